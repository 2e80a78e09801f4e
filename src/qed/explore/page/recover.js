// Recovery: a search that is watched on the map, and the recovered swarm beside the broken one.
import * as api from "./api.js";
import { $, called, made } from "./dom.js";
import { asked, entryOf } from "./state.js";

const ROLES = {
  running: "ran when it broke", normal: "normal best", single: "best single one", recovery: "found",
};
const PAUSE = 420; // ms between the trials of a kit's search: it is faster than one can follow
const still = matchMedia("(prefers-reduced-motion: reduce)");

export class Recovering {
  constructor(page) {
    this.page = page;
    this.running = null;
    this.reports = new Map(); // what was found, by what was shown then
    $("recover").addEventListener("click", () => (this.running ? this.stop() : this.search()));
    $("prepare").addEventListener("click", () => (this.running ? this.stop() : this.prepare()));
    $("adopt").addEventListener("click", () => {
      const { beside } = page.state;
      this.forget();
      Object.assign(page.state, { cells: beside, environment: page.stage.swarm.environment });
      page.load(0, true);
    });
    $("dismiss").addEventListener("click", () => {
      const before = this.reports.get(entryOf(page.state))?.scene;
      this.forget();
      page.change(before || {});
    });
    $("many").addEventListener("click", () => (this.running ? this.stop() : this.many()));
    $("show-found").addEventListener("click", () => this.showFound());
    $("fit").addEventListener("click", () => {
      const environment = { ...page.stage.swarm.environment, robots: page.archive.kit.environment.robots };
      page.change({ environment, events: page.surroundings.faultsFor(environment), robot: -1 });
    });
    for (const way of document.querySelectorAll("[name=way]"))
      way.addEventListener("change", () => this.ready());
  }

  get way() { return document.querySelector("[name=way]:checked").value; }

  // Another archive: say what can be done with it.
  show() {
    const { archive } = this.page, radio = (name) => document.querySelector(`[name=way][value=${name}]`);
    const { kit } = archive;
    $("all-words").textContent = `a race of ${archive.controllers.toLocaleString("en")}; the fault is known`;
    $("kit-words").textContent = kit
      ? `with a kit of ${kit.cells.length}; the fault is unknown` : "needs a kit; the fault is unknown";
    $("book-way").hidden = !kit;
    radio("exhaustive").disabled = !archive.archive;
    $("team-way").hidden = !archive.archive;
    radio(kit || !archive.archive ? "kit" : "exhaustive").checked = true;
    if (this.page.state.way) {
      const wanted = radio(this.page.state.way);
      if (wanted && !wanted.disabled) wanted.checked = true;
    }
    this.ready();
    const { state } = this.page, report = this.reports.get(entryOf(state));
    // A link that shows a recovery has its numbers no more, but its ways out.
    $("found").hidden = !(state.beside && state.way) && !report;
    $("after").hidden = !(state.beside && state.way);
    $("numbers").replaceChildren();
    $("origin").textContent = "";
    if (report) this.tell(report);
    if (!this.running) $("trials").hidden = true;
  }

  // Why the kit cannot be used with what controllers may read.
  get unfit() {
    const { kit } = this.page.archive, others = this.page.filters.excluded(kit.cells);
    return others ? `Of the kit's ${kit.cells.length} controllers, ${others} read range and bearing. Race every ` +
      "controller, or make a kit with qed prepare --without rab." : "";
  }

  // Whether a search can begin, and why not.
  ready(quiet = false, always = false) {
    const { page } = this, { swarm } = page.stage, { kit } = page.archive;
    if (!swarm || this.running) return;
    const broken = swarm.faultsAt(swarm.cycles).some((name) => name !== "NONE");
    let why = broken ? "" : "Break a robot first.";
    $("fit").hidden = true;
    $("prepare").hidden = this.way !== "kit" || Boolean(kit || page.state.without);
    if (["kit", "playbook"].includes(this.way) && kit && broken) {
      const { robots } = kit.environment;
      if (robots !== swarm.robots) {
        why = `The kit is for ${robots} robots, and here are ${swarm.robots}.`;
        $("fit").textContent = `Go on with ${robots} robots`;
        $("fit").hidden = false;
      }
      why ||= this.unfit;
      if (kit.task !== swarm.task) why = `The kit is for ${kit.task}; choose that score.`;
    }
    const { cells } = page.map.data;
    if (page.state.without && page.filters.excluded(cells) === cells.length)
      why ||= "Every controller of this archive reads range and bearing.";
    if (this.way === "kit" && !kit && page.state.without)
      why ||= "This archive has no kit: race every controller, or make one with qed prepare --without rab.";
    if (this.way === "kit" && !kit)
      why ||= "This archive has no kit yet: prepare one, or give one to qed explore.";
    $("recover").disabled = Boolean(why);
    if (always && why || !this.reports.has(entryOf(page.state)) && !page.state.beside && !(quiet && !why)) $("message").textContent = why;
  }

  stop() {
    if (!this.running) return;
    this.running.abort();
    // The server would notice by itself, but a little later.
    this.stopping = api.table("stop", { what: "search" }).catch(() => {});
  }

  // Another swarm is shown; a search goes on, for the one that it began with.
  forget() {
    $("found").hidden = true;
    if (!this.running) for (const id of ["trials", "progress", "show-found"]) $(id).hidden = true;
    Object.assign(this.page.state, { beside: null, way: "" });
  }

  async work(button, address, given, each) {
    const mine = (this.running = new AbortController()), words = button.textContent;
    button.textContent = "Stop";
    button.classList.add("stop");
    button.disabled = false;
    $("progress").hidden = false;
    $("progress").removeAttribute("value");
    try {
      await this.stopping;
      await api.stream(address, given, (event) => {
        mine.signal.throwIfAborted();
        return each(event, mine.signal);
      }, mine.signal);
      return true;
    } catch (error) {
      $("message").textContent = mine.signal.aborted ? "Stopped." : error.message;
      return false;
    } finally {
      this.running = null;
      button.textContent = words;
      button.classList.remove("stop");
      $("progress").hidden = true;
    }
  }

  async search() {
    const { page, way } = this;
    const compared = Boolean(page.state.beside);
    this.forget();
    if (compared) await page.load(0, page.stage.playing);
    $("trials").replaceChildren();
    $("trials").hidden = true;
    Object.assign(this, { found: null, tried: 0, trying: way });
    const scene = (this.scene = structuredClone(page.state)); // it may be another one in the end
    const ended = await this.work($("recover"), "search", { state: asked(scene), way }, (event, signal) =>
      this[`on_${event.kind}`]?.(event, signal));
    if (!ended || !this.found) { this.ready(true); return; }
    this.report = { found: this.found, way, tried: this.tried, scene };
    if (entryOf(scene) === entryOf(page.state)) { this.recovered(); return; }
    $("message").textContent = "The search has ended; meanwhile something else is shown.";
    $("show-found").hidden = false;
  }

  // Colour the map by what controllers give in several faults; what is known so far stays.
  async many() {
    const { page } = this, words = "mean over faults", resilience = "mean resilience";
    let normal = 0;
    this.scene = structuredClone(page.state);
    const done = await this.work($("many"), "search", { state: asked(this.scene), way: "many faults" }, (event) => {
      if (event.kind === "phase") { $("message").textContent = event.words; return; }
      if (event.kind === "normal") { normal = event.fitness; return; }
      $("progress").value = event.done / event.total;
      if (!event.cells?.length || !this.seen) return;
      page.map.untried();
      page.map.tried(event.cells, event.fitness, false);
      if (normal > 0) page.filters.layer(resilience, resilience,
        page.map.values.map((mean) => (mean === null ? null : mean / normal - 1)));
      page.filters.layer(words, words);
      page.scaled();
    });
    this.ready(true);
    if (done) $("message").textContent = "The map shows the mean fitness over 8 combined faults, a trial of each; " +
      `mean resilience is its change against ${normal.toFixed(3)}, the normal best with healthy robots.`;
  }

  // Whether the map is that of the archive that is searched.
  get seen() { return this.page.state.archive === this.scene.archive; }

  // What a search reports: what it is about to do,
  on_phase({ words }) {
    const { map, filters } = this.page;
    $("message").textContent = words;
    if (["team", "playbook"].includes(this.trying) || !this.seen) return;
    const healthy = words.includes("healthy") ? "healthy here" : "with these faults";
    const name = this.trying === "kit" ? "believed with these faults" : healthy;
    map.untried();
    filters.layer(name, name);
  }

  // which cells it has tried,
  on_tried({ cells, fitness, done, total }) {
    this.tried = done;
    $("progress").value = total ? done / total : 0;
    if (!cells.length || !this.seen) return;
    this.page.map.tried(cells, fitness, cells.length < 400);
    this.page.scaled();
  }

  // what it believes of all of them,
  on_belief({ cells, means }) {
    if (!this.seen) return;
    this.page.map.tried(cells, means, false);
    this.page.scaled();
  }

  // what a trial gave, and what it believes now; with a pause, for it is quicker than an eye;
  async on_trial(event, signal) {
    const { map } = this.page;
    this.on_belief(event);
    if (this.seen) {
      map.tried([event.cell], [event.means[event.cells.indexOf(event.cell)]]);
      map.marked = [map.rows.get(event.best)];
      map.draw();
    }
    this.trial(event);
    this.tried = event.number;
    if (still.matches) return;
    await new Promise((done, fail) => {
      const timer = setTimeout(done, PAUSE);
      const stop = () => { clearTimeout(timer); fail(signal.reason); };
      signal.addEventListener("abort", stop, { once: true });
    });
  }

  // and what it has found.
  on_found(event) { this.found = event; }

  trial({ number, of, free, cell, fitness, believed, gain, worthwhile, best }) {
    $("trials").hidden = false;
    const bar = made("li", undefined, free ? "first" : "now"), label = made("span", fitness.toFixed(2));
    for (const before of $("trials").querySelectorAll(".now")) before.classList.remove("now");
    bar.style.height = `${Math.max(6, Math.min(fitness, 1) * 46)}px`;
    bar.title = `cell ${cell} gave ${fitness.toFixed(3)}`;
    bar.append(label);
    $("trials").append(bar);
    $("progress").value = number / of;
    const what = free ? `Noticed: cell ${cell} now gives ${fitness.toFixed(2)}.`
      : `Trial ${number} of ${of}: cell ${cell} gave ${fitness.toFixed(2)}.`;
    const [mean, low, high] = (worthwhile ? believed : gain).map((one) => one.toFixed(2));
    const belief = worthwhile ? `Best now: cell ${best}, believed ${mean} (${low} to ${high}).`
      : `No clear gain yet (${low} to ${high}).`;
    $("message").textContent = `${what} ${belief}`;
  }

  // Show what a search has found for a swarm that is no longer on the screen.
  async showFound() {
    const { page } = this, { scene } = this.report, elsewhere = !this.seen;
    $("show-found").hidden = true;
    page.state = { ...structuredClone(scene), speed: page.state.speed };
    if (elsewhere) await page.openArchive();
    this.recovered();
  }

  // The swarm that broke is on the left, and what was found is beside it.
  async recovered() {
    const { page, report } = this, { found, scene, way } = report, { state } = page;
    const stays = found.rows[0].roles.includes("recovery");
    state.way = way;
    // Both from the same start, with the faults from the beginning.
    if (!stays) Object.assign(state, { events: [[0, scene.events.at(-1)[1]]], beside: found.cells });
    this.reports.set(entryOf(state), report);
    this.tell(report);
    if (stays) { page.keeping.show(); page.linked(); return; }
    await page.load(0, true);
    const { top } = $("main-pane").getBoundingClientRect();
    if (top < 0 || top > innerHeight / 2) // the swarms are above
      $("swarm-title").scrollIntoView({ behavior: still.matches ? "auto" : "smooth" });
  }

  // What was found, in words and numbers; measured against what ran when robots broke.
  tell({ found, way, tried }) {
    const row = (role) => found.rows.find(({ roles }) => roles.includes(role));
    const running = row("running"), recovery = row("recovery"), stays = running === recovery;
    const [before, after] = [running, recovery].map(({ broken }) => broken.toFixed(3));
    const trials = way === "kit" ? ` after ${tried} trials` : "";
    const normal = recovery.roles.includes("normal") ? " It is the normal best: nothing else was clearly better." : "";
    $("message").textContent = stays ? `${called(running.cells)} stays${trials}: nothing was clearly better.`
      : recovery.broken > running.broken
        ? `Recovered with ${called(recovery.cells)}${trials}: ${before} → ${after} with these faults.${normal}`
        : `No recovery${trials}: ${called(recovery.cells)} was found, but gives ${after} where ` +
          `${called(running.cells)} gives ${before}.`;
    this.table(found.rows, running);
    const { origin } = found;
    const words = origin ? ` ${origin[0].toUpperCase()}${origin.slice(1)}.` : "";
    $("origin").textContent = `Means of 50 fresh trials; the swarms in the picture are one.${words}`;
    $("found").hidden = false;
    $("after").hidden = stays;
  }

  // A row for each controller that was measured: the name of one puts it on the left.
  table(rows, running) {
    const percent = (value) => {
      const rounded = Math.round(100 * (value / running.healthy - 1));
      if (!Number.isFinite(rounded)) return "";
      return `${rounded > 0 ? "+" : rounded < 0 ? "−" : ""}${Math.abs(rounded)} %`;
    };
    $("numbers").replaceChildren(...rows.map(({ cells, roles, healthy, broken }) => {
      const line = made("tr"), head = made("th"), show = made("button", called(cells));
      head.scope = "row";
      show.type = "button";
      show.title = "Show it on the left";
      show.addEventListener("click", () => this.showLeft(cells));
      head.append(show, made("small", roles.map((role) => ROLES[role]).join(", ")));
      line.append(head, made("td", healthy === null ? "" : healthy.toFixed(3)),
        made("td", broken.toFixed(3)), made("td", percent(broken)));
      return line;
    }));
    $("change").textContent = `against ${called(running.cells)} healthy`;
  }

  showLeft(cells) {
    const { page } = this, { state } = page, report = this.reports.get(entryOf(state));
    Object.assign(state, { cells, environment: page.stage.swarm.environment });
    this.reports.set(entryOf(state), report); // the numbers are still those of both
    page.load(0, true);
  }

  async prepare() {
    const { page } = this, { archive } = page.state;
    const done = await this.work($("prepare"), "prepare", { archive }, (event) => {
      if (event.kind === "phase") $("message").textContent = event.words;
      else if (event.kind === "tried") $("progress").value = event.done / event.total;
      else if (event.kind === "kit") page.config.archives[archive] = event.archive;
    });
    if (done) { this.show(); document.querySelector("[name=way][value=kit]").checked = true; }
    this.ready(!done);
  }
}
