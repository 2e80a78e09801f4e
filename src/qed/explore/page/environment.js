// Where the swarm works: six sliders, a seed, a start.
import { $, fill, made } from "./dom.js";

const NORMAL = 10; // robots of the normal environment

export class Surroundings {
  constructor(page) {
    this.page = page;
    const { attributes, starts } = page.config;
    this.sliders = attributes.map((attribute) => {
      const [low, high, step] = attribute.range;
      const label = made("label", undefined, "slider"), input = made("input"), output = made("output");
      Object.assign(input, { type: "range", min: low, max: high, step, id: `slider-${attribute.name}` });
      output.setAttribute("for", input.id);
      label.append(made("span", attribute.words), input, output);
      input.addEventListener("input", () => this.changed(attribute, input));
      $("sliders").append(label);
      return { attribute, input, output, label };
    });
    fill($("start"), Object.entries(starts).map(([name, words]) => [name, words]));
    $("start").addEventListener("change", () => page.change({ start: $("start").value }));
    $("seed").addEventListener("change", () => {
      const seed = Math.min(Math.max(Math.floor(Number($("seed").value)) || 0, 0), Number.MAX_SAFE_INTEGER);
      page.change({ seed });
    });
    $("reseed").addEventListener("click", () => page.change({ seed: page.state.seed + 1 }));
    // Cells run in environments of their own, or all in this one.
    $("hold").addEventListener("change", () => {
      page.recovering.forget();
      const here = page.stage.swarm.environment;
      if ($("hold").checked) page.change({ environment: here }, page.stage.now);
      else page.change({ environment: null, events: this.fitting(page.state.cells[0]) });
    });
  }

  text(attribute, value) {
    const number = Number((value * attribute.scale).toFixed(3));
    return attribute.unit ? `${number} ${attribute.unit}` : String(number);
  }

  changed(attribute, input) {
    const { page } = this, value = Number((input.value / attribute.scale).toFixed(6));
    const environment = { ...page.stage.swarm.environment, ...page.state.environment, [attribute.name]: value };
    this.mark(attribute, value);
    page.recovering.forget();
    page.change({ environment, events: this.faultsFor(environment), robot: -1 });
  }

  // Faults go with robots: with another number of them the first ones keep theirs.
  faultsFor(environment) {
    const { events } = this.page.state;
    const fit = (names) => Array.from({ length: environment.robots }, (_, k) => names[k] || "NONE");
    return events.map(([time, names]) => [time, fit(names)]);
  }

  // What happened, as far as there are robots for it in a cell's own environment.
  fitting(cell) {
    const { map } = this.page;
    const robots = map.data.environments ? map.data.attributes.find((one) => one.name === "robots") : null;
    const count = robots ? Number(robots.options[robots.values[map.rows.get(cell)]]) : NORMAL;
    return this.faultsFor({ robots: count });
  }

  mark(attribute, value) {
    const { input, output } = this.sliders.find((one) => one.attribute === attribute);
    output.textContent = this.text(attribute, value);
    input.setAttribute("aria-valuetext", output.textContent);
  }

  show(swarm) {
    for (const { attribute, input, label } of this.sliders) {
      const value = swarm.environment[attribute.name];
      if (document.activeElement !== input) input.value = value * attribute.scale;
      this.mark(attribute, value);
      label.classList.toggle("other", !swarm.native && Math.abs(value - attribute.normal) > 1e-9);
    }
    $("seed").value = this.page.state.seed;
    $("start").value = this.page.state.start;
    $("hold").checked = Boolean(this.page.state.environment);
    const { environments } = this.page.map.data;
    $("hold-words").textContent = environments ? "The same for all cells" : "Other than normal";
  }
}
