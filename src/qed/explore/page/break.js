// Faults: given to a robot or to all, while the swarm runs.
import { $, fill, made } from "./dom.js";

const ALL = -1;

export class Breaking {
  constructor(page) {
    this.page = page;
    const { faults, look } = page.config;
    $("faults").replaceChildren(...faults.map((name) => {
      const button = made("button"), sign = look.signs[name], healthy = name === "NONE";
      button.type = "button";
      const badge = made("b", healthy ? "✓" : sign.badge, healthy ? "heal" : "");
      if (!healthy) badge.style.background = sign.colour;
      button.append(badge, made("span", healthy ? "heal" : name));
      button.title = healthy ? "healthy again" : sign.words;
      button.setAttribute("aria-label", healthy ? "Heal" : sign.words);
      button.dataset.fault = name;
      button.addEventListener("click", () => this.give(name));
      return button;
    }));
    $("robot").addEventListener("change", () => {
      const robot = Number($("robot").value);
      if (robot !== page.state.robot) page.pick(robot === ALL ? page.state.robot : robot);
    });
    $("random").addEventListener("click", () => this.random());
    $("heal").addEventListener("click", () => this.strike(this.now.map(() => "NONE")));
  }

  get swarm() { return this.page.stage.swarm; }
  get now() { return this.swarm.faultsAt(Math.floor(this.page.stage.cycle)); }

  give(name) {
    const { robot } = this.page.state;
    this.strike(this.now.map((before, k) => (robot === ALL || k === robot ? name : before)));
  }

  random() {
    const kinds = this.page.config.faults, draws = crypto.getRandomValues(new Uint32Array(this.swarm.robots));
    this.strike(Array.from(draws, (draw) => kinds[draw % kinds.length]));
  }

  // What robots have from now on; what came later did not happen.
  strike(faults) {
    const { page } = this, { stage } = page;
    const ended = stage.now >= stage.length;
    const time = ended ? 0 : Number((Math.floor(stage.cycle) * this.swarm.cycle).toFixed(1));
    const kept = page.state.events.filter(([at]) => at < time);
    page.recovering.forget();
    page.change({ events: [...kept, [time, faults]] }, Math.min(stage.now, stage.length));
    if (stage.now >= stage.length) stage.play(true);
  }

  show() {
    const { page, swarm } = this, { state } = page, last = swarm.faultsAt(swarm.cycles);
    fill($("robot"), [[ALL, "all robots"], ...Array.from({ length: swarm.robots },
      (_, k) => [k, `robot ${k + 1}${last[k] === "NONE" ? "" : ` (${last[k]})`}`])]);
    $("robot").value = state.robot;
    $("events").replaceChildren(...state.events.map(([time, faults], k) => {
      const item = made("li"), button = made("button", "×");
      const counts = new Map();
      for (const name of faults) if (name !== "NONE") counts.set(name, (counts.get(name) || 0) + 1);
      const words = [...counts].map(([name, count]) => (count > 1 ? `${count} ${name}` : name)).join(", ");
      item.append(made("span", `${time} s: ${words || "all healthy"}`), button);
      button.type = "button";
      button.title = "undo";
      button.setAttribute("aria-label", `Undo what happened at ${time} s`);
      button.addEventListener("click", () => {
        page.recovering.forget();
        page.change({ events: state.events.filter((_, i) => i !== k) }, page.stage.now);
      });
      return item;
    }));
    $("break-hint").hidden = state.robot >= 0;
    $("heal").disabled = last.every((name) => name === "NONE");
  }
}
