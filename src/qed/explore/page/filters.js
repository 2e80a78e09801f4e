// Which cells are shown: by attributes, by fitness; and what their colours mean.
import { $, fill, made } from "./dom.js";

export class Filters {
  constructor(page) {
    this.page = page;
    $("least").addEventListener("input", () => this.apply());
    $("unfilter").addEventListener("click", () => { this.show(page.map.data); this.without(""); });
    $("without").addEventListener("change", () => this.without($("without").value));
    $("colour").addEventListener("change", () => this.colour($("colour").value));
    this.layers = {};
  }

  show(data) {
    this.data = data;
    this.layers = {};
    fill($("colour"), [["evolved", "fitness in evolution"]]);
    $("colour-label").hidden = true;
    $("filters").replaceChildren(...data.attributes.map((attribute) => {
      const label = made("label", attribute.name), select = made("select");
      fill(select, [["", "any"], ...attribute.options.map((option, k) => [k, option])]);
      select.addEventListener("change", () => this.apply());
      label.append(select);
      return label;
    }));
    this.selects = [...$("filters").querySelectorAll("select")];
    const low = Math.min(...data.fitness), high = Math.max(...data.fitness);
    Object.assign($("least"), { min: low, max: high, step: (high - low) / 100 || 1, value: low });
    this.apply();
  }

  apply() {
    const { attributes, fitness, hears } = this.data, least = Number($("least").value);
    const wanted = this.selects.map((select) => (select.value === "" ? -1 : Number(select.value)));
    const all = Number($("least").value) <= Number($("least").min), { without } = this.page.state;
    $("without").value = without;
    this.page.map.passes = (row) => (all || fitness[row] >= least) &&
      !(without && hears[row]) && wanted.every((option, k) => option < 0 || attributes[k].values[row] === option);
    const count = fitness.filter((_, row) => this.page.map.passes(row)).length;
    $("least-value").textContent = least.toFixed(2);
    $("unfilter").disabled = count === fitness.length;
    document.querySelector(".filter summary").textContent = count === fitness.length ? "Filter cells"
      : `Filter cells: ${count.toLocaleString("en")} of ${fitness.length.toLocaleString("en")}`;
    this.page.map.paint();
  }

  // What recoveries are searched among, too.
  without(inputs) {
    const { page } = this;
    page.state.without = inputs;
    this.apply();
    if (!page.ready) return;
    page.linked();
    page.recovering.ready(false, true);
    page.real.show();
    page.keeping.show();
  }

  // How many of some cells cannot be used, for what they read.
  excluded(cells) {
    const { hears } = this.data;
    return this.page.state.without ? cells.filter((cell) => hears[this.page.map.rows.get(cell)]).length : 0;
  }

  // Add what a search found of cells as something that colours can show.
  layer(name, words, values = this.page.map.values) {
    this.layers[name] = { words, values };
    fill($("colour"), [["evolved", "fitness in evolution"],
      ...Object.entries(this.layers).map(([key, one]) => [key, one.words])]);
    $("colour-label").hidden = false;
    if (values !== this.page.map.values) return; // it can be chosen
    $("colour").value = name;
    this.page.map.valueWords = words;
  }

  colour(name) {
    const { map } = this.page;
    map.values = this.layers[name]?.values || null;
    map.valueWords = this.layers[name]?.words || "";
    map.paint();
    this.page.scaled();
    this.page.point(map.cursor);
  }
}
