// Faults: given to a robot, to all of a kind or to all, while the swarm runs.
import { $, fill, made } from "./dom.js";

const ALL = -1, KIND = "kind:";

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
    this.kind = null;  // the fault of all robots that get the next one
    $("robot").addEventListener("change", () => {
      const chosen = $("robot").value, robot = Number(chosen);
      this.kind = chosen.startsWith(KIND) ? chosen.slice(KIND.length) : null;
      if (this.kind !== null) this.show();
      else if (robot !== page.state.robot) page.pick(robot === ALL ? page.state.robot : robot);
    });
    $("random").addEventListener("click", () => this.random());
    $("heal").addEventListener("click", () => this.strike(this.now.map(() => "NONE")));
  }

  get swarm() { return this.page.stage.swarm; }
  get now() { return this.swarm.faultsAt(Math.floor(this.page.stage.cycle)); }

  give(name) {
    const { robot } = this.page.state;
    const gets = (before, k) => (this.kind === null ? robot === ALL || k === robot : before === this.kind);
    this.strike(this.now.map((before, k) => (gets(before, k) ? name : before)));
  }

  random() {
    const kinds = this.page.config.faults, draws = crypto.getRandomValues(new Uint32Array(this.swarm.robots));
    this.strike(Array.from(draws, (draw) => kinds[draw % kinds.length]));
  }

  // What robots have from now on; what came later did not happen.
  strike(faults) {
    const { page } = this, { stage } = page;
    const ended = stage.now >= stage.length();
    const time = ended ? 0 : Number((Math.floor(stage.cycle) * this.swarm.cycle).toFixed(1));
    const kept = page.state.events.filter(([at]) => at < time);
    page.recovering.forget();
    page.change({ events: [...kept, [time, faults]] }, Math.min(stage.now, stage.length()));
    if (stage.now >= stage.length()) stage.play(true);
  }

  show() {
    const { page, swarm } = this, { state } = page, last = swarm.faultsAt(swarm.cycles);
    const kinds = new Map();
    for (const name of last) kinds.set(name, (kinds.get(name) || 0) + 1);
    if ((kinds.get(this.kind) || 0) < 2) this.kind = null;
    fill($("robot"), [[ALL, "all robots"],
      ...[...kinds].filter(([, count]) => count > 1 && count < last.length)
        .map(([name, count]) => [KIND + name, `all ${count} ${name === "NONE" ? "healthy ones" : `with ${name}`}`]),
      ...Array.from({ length: swarm.robots },
        (_, k) => [k, `robot ${k + 1}${last[k] === "NONE" ? "" : ` (${last[k]})`}`])]);
    $("robot").value = this.kind === null ? state.robot : KIND + this.kind;
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
