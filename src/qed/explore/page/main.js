// The page: one state, what shows it, and what changes it.
import * as api from "./api.js";
import { $, called, fill, made, noted } from "./dom.js";
import { Breaking } from "./break.js";
import { Surroundings } from "./environment.js";
import { Keeping } from "./keep.js";
import { MapView } from "./map.js";
import { Filters } from "./filters.js";
import { RealTrials } from "./real.js";
import { Recovering } from "./recover.js";
import { Stage } from "./stage.js";
import { asked, entryOf, fromLink, toLink } from "./state.js";

const SPEEDS = [1, 2, 5, 10, 20, 50, 100];
const still = matchMedia("(prefers-reduced-motion: reduce)");

class Page {
  async begin() {
    this.config = await api.get("start");
    // A saved session, unless a link says what to show, or this page has already shown something.
    this.state = fromLink(location.hash || this.config.link);
    this.state = this.possible(this.state);
    this.map = new MapView($("map"), this.config.viridis, {
      chosen: (cell) => this.run(cell),
      pointed: (row) => this.point(row),
    });
    this.filters = new Filters(this);
    this.choose();
    // The map is there first: to draw swarms, the server has to load more, or to compile it.
    await this.openArchive();
    noted("map drawn");
    const [look] = await Promise.all([api.get("look"), this.compiled()]);
    Object.assign(this.config, look);
    this.stage = new Stage(this.config, { moved: () => this.linked(), picked: (k) => this.pick(k) });
    this.breaking = new Breaking(this);
    this.surroundings = new Surroundings(this);
    this.recovering = new Recovering(this);
    this.keeping = new Keeping(this);
    this.real = new RealTrials(this);
    this.listen();
    this.ready = true;
    await this.begun();
    addEventListener("popstate", () => this.follow());
  }

  // Wait for the simulator; where it has to be compiled, say how far it is and what to read.
  async compiled() {
    for (;;) {
      const { ready, compiled } = await api.get("ready");
      if (ready) return;
      if (compiled === null) continue;
      $("starting").hidden = false;
      $("starting-progress").value = compiled;
    }
  }

  get archive() { return this.config.archives[this.state.archive]; }
  get task() { return this.state.task || this.archive.task; }

  choose() {
    fill($("archive"), this.config.archives.map((one, k) => [k, one.name]));
    $("archive").addEventListener("change", () => {
      const { speed, trails, sensors, badges, without } = this.state;
      this.recovering?.forget();
      this.state = { ...fromLink(""), archive: Number($("archive").value), speed, trails, sensors, badges, without };
      this.openArchive();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.map.paint());
  }

  listen() {
    fill($("speed"), SPEEDS.map((speed) => [speed, `${speed}×`]));
    fill($("task"), this.config.tasks.map(({ name, words }) => [name, name, words]));
    $("task").addEventListener("change", () => {
      const wanted = $("task").value;
      this.recovering.forget();
      this.change({ task: wanted === this.archive.task ? null : wanted }, this.stage.now);
    });
    $("play").addEventListener("click", () => this.stage.play(!this.stage.playing));
    $("time").addEventListener("input", () => {
      this.stage.play(false);
      this.stage.go(Number($("time").value));
    });
    $("speed").addEventListener("change", () => {
      this.state.speed = Number($("speed").value);
      this.linked();
    });
    for (const id of ["trails", "sensors", "badges"])
      $(id).addEventListener("change", () => {
        this.state[id] = $(id).checked;
        this.stage.draw();
        this.linked();
      });
    document.addEventListener("keydown", (event) => this.key(event));
    $("compare").addEventListener("change", () => {
      if ($("compare").checked || !this.state.beside || this.state.way) return;
      this.recovering.forget();
      this.load(this.stage.now, this.stage.playing);
    });
    $("spread").addEventListener("click", () => this.spread());
    $("undo").addEventListener("click", () => history.back());
    $("redo").addEventListener("click", () => history.forward());
    addEventListener("beforeunload", () => this.recovering.stop());
  }

  async openArchive() {
    const { state } = this, data = await api.get(`map/${state.archive}`);
    if (state !== this.state) return; // another one was chosen meanwhile
    this.map.show(data);
    this.filters.show(data);
    this.scaled();
    // What has a kit begins where the kit was learned, with as many robots, whatever cell is clicked.
    if (!state.cells && !state.environment) state.environment = this.archive.kit?.environment || null;
    const cells = state.cells?.filter((cell) => this.map.rows.has(cell));
    state.cells = cells?.length ? cells : [data.normal];
    this.map.selected = state.cells;
    this.map.draw();
    $("archive").value = state.archive;
    $("finest").textContent = data.finest;
    $("summary").textContent = data.title.replace(/^[^:]*: /, "");
    this.point(-1);
    if (this.ready) await this.begun();
  }

  // There is a map, and what simulates its cells.
  async begun() {
    const { state } = this;
    $("speed").value = state.speed;
    for (const id of ["trails", "sensors", "badges"]) $(id).checked = state[id];
    this.filters.apply();
    this.recovering.show();
    this.real.show();
    await this.load(state.time, !still.matches);
  }

  // A link that names an archive that is not here shows none, rather than another one's cells.
  possible(state) {
    const count = this.config.archives.length;
    if (this.config.archives[state.archive]) return state;
    $("busy").textContent = `The link cannot be shown: archive must be 0 to ${count - 1}, got ${state.archive}`;
    $("busy").hidden = false;
    history.replaceState(null, "", location.pathname);
    return fromLink("");
  }

  // The browser went back or forward, or the link was changed by hand.
  follow() {
    clearTimeout(this.linking);
    const wanted = fromLink(location.hash), before = this.state;
    Object.assign(this, { entry: entryOf(wanted), slid: false });
    this.undoable();
    if (toLink(wanted) === toLink(before)) return;
    this.state = wanted;
    if (wanted.archive !== before.archive || !wanted.cells) this.openArchive();
    else this.begun();
  }

  run(cell) {
    const { state } = this;
    noted("cell clicked");
    if (this.ready && $("compare").checked) {
      this.recovering.forget();
      state.beside = [cell];
      this.load(0, true);
      return;
    }
    this.recovering?.forget();
    state.cells = [cell];
    if (!this.ready) { // the simulator is still to come
      this.map.selected = state.cells;
      this.map.draw();
      this.point(-1);
      return;
    }
    // Its own environment may have another number of robots, and faults go with robots.
    if (!state.environment) state.events = this.surroundings.fitting(cell);
    this.load(0, true);
    if (innerWidth < 620) $("swarm-title").scrollIntoView({ behavior: still.matches ? "auto" : "smooth" });
  }

  // Change what is simulated; it starts at ``time`` again.
  change(some, time = 0) {
    Object.assign(this.state, some);
    this.load(time, this.stage.playing);
  }

  // One request at a time: while it is under way only the last wish is remembered, so that a
  // slider that is dragged does not queue up what nobody will see.
  load(time, play) {
    this.wish = { time, play };
    this.loading ||= this.fetch().finally(() => { this.loading = null; });
    return this.loading;
  }

  async fetch() {
    while (this.wish) {
      const { time, play } = this.wish;
      this.wish = null;
      await this.simulate(time, play);
    }
  }

  async simulate(time, play) {
    const { state } = this;
    const slow = setTimeout(() => {
      $("busy").textContent = "Simulating…";
      $("busy").hidden = false;
    }, 1200);
    try {
      const wanted = [state.cells, ...(state.beside ? [state.beside] : [])];
      const buffers = await Promise.all(
        wanted.map((cells) => api.bytes("swarm", { state: asked(state, cells) })));
      this.stage.robot = state.robot;
      this.stage.show(buffers, time);
      this.shown();
      this.stage.play(play);
      this.linked();
      $("busy").hidden = !$("busy").textContent.startsWith("The link");
      if (!$("busy").hidden) setTimeout(() => { $("busy").textContent = ""; $("busy").hidden = true; }, 8000);
    } catch (error) {
      $("busy").textContent = error.message;
      $("busy").hidden = false;
      if (!this.stage.swarm && location.hash.length > 1) { // a link that shows nothing: begin anew
        $("busy").textContent = `The link cannot be shown: ${error.message}`;
        history.replaceState(history.state, "", location.pathname);
        this.state = { ...fromLink(""), archive: state.archive, cells: [this.map.data.normal] };
        this.wish = { time: 0, play };
      }
    } finally {
      clearTimeout(slow);
    }
  }

  // Write what is shown now, wherever it is written.
  shown() {
    const { state, stage } = this, { swarm } = stage;
    for (const part of document.querySelectorAll("[inert]")) part.inert = false;
    $("starting").hidden = true;
    state.seconds = swarm.seconds === this.archive.seconds ? null : swarm.seconds;
    this.map.selected = state.cells.length === 1 ? state.cells : [...new Set(state.cells)];
    this.map.marked = state.beside ? state.beside.map((cell) => this.map.rows.get(cell)) : [];
    this.map.draw();
    this.point(this.map.cursor);
    document.body.classList.toggle("comparing", Boolean(state.beside));
    $("main-title").hidden = !state.beside;
    const titles = state.way ? ["Broken: ", "Recovered: "] : ["", ""];
    $("main-title").textContent = titles[0] + called(state.cells);
    $("beside-title").textContent = titles[1] + called(state.beside || []);
    $("spread-words").textContent = "";
    $("swarm-title").textContent = state.beside ? "The same start, twice"
      : `${called(state.cells)[0].toUpperCase()}${called(state.cells).slice(1)}`;
    const normal = this.config.attributes.every((one) => swarm.environment[one.name] === one.normal);
    const where = swarm.native ? "In its own environment"
      : `In ${normal ? "the normal" : "another"} environment`;
    $("where").textContent = this.map.data.environments ? `${where}: ${swarm.words}` : swarm.words;
    $("task").value = swarm.task;
    const ill = swarm.events.at(-1)?.[1].filter((fault) => fault !== "NONE").length || 0;
    $("arena").setAttribute("aria-label", `${swarm.robots} robots seen from above, ` +
      `${ill ? `${ill} of them with a fault in the end` : "all healthy"}. Arrow keys choose a robot.`);
    $("beside").setAttribute("aria-label", "The recovered swarm from the same start");
    $("curve").setAttribute("aria-label", `Score of ${swarm.task} over time; it ends at ` +
      `${swarm.score(swarm.cycles).toFixed(3)}`);
    this.legend();
    this.surroundings.show(swarm);
    this.breaking.show();
    this.recovering.ready();
    this.keeping.show();
    this.look();
  }

  legend() {
    const look = this.stage.panes[0].scene.look, words = this.config.marks[this.stage.swarm.task];
    const entries = [[look.healthy, "healthy"]];
    if (words) entries.push([this.task.includes("patrolling") ? look.freshness.at(-1) : look.mark, words]);
    const team = this.stage.panes.some(({ pane }) => pane.letters.length);
    if (team) entries.push(["", "letters: which controller"]);
    $("legend").replaceChildren(...entries.map(([colour, text]) => {
      const item = made("span", text), sign = made("i");
      sign.style.background = colour;
      if (colour) item.prepend(sign);
      return item;
    }));
  }

  // How much of a score is the start: the same swarm from many.
  async spread() {
    const asking = asked(this.state), words = $("spread-words");
    words.textContent = "Simulating 30 starts…";
    try {
      const said = (values) => {
        const sorted = [...values].sort((a, b) => a - b), mean = values.reduce((a, b) => a + b) / values.length;
        const at = (share) => sorted[Math.round(share * (sorted.length - 1))].toFixed(3);
        return `${mean.toFixed(3)} (${at(0)} to ${at(1)}, half of them ${at(0.25)} to ${at(0.75)})`;
      };
      const { healthy, broken } = await api.table("spread", { state: asking });
      words.textContent = `Healthy ${said(healthy)}` +
        (broken ? `; with these faults from the beginning ${said(broken)}.` : ".");
    } catch (error) { words.textContent = error.message; }
  }

  pick(robot) {
    this.state.robot = robot === this.state.robot ? -1 : robot;
    this.stage.robot = this.state.robot;
    this.breaking.show();
    this.look();
    this.stage.draw();
    this.linked();
  }

  // The robot that is looked at.
  look() {
    const { robot } = this.state, { swarm } = this.stage;
    $("robot-card").hidden = robot < 0 || robot >= swarm.robots;
    if ($("robot-card").hidden) return;
    const { links, hidden } = swarm.network(robot);
    $("robot-title").textContent = `Robot ${robot + 1}`;
    const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
    const size = `${many(hidden, "hidden neuron")}, ${many(links.length, "connection")}`;
    $("robot-words").textContent = `${size}; ` +
      "blue drives, orange brakes; what it feels and hears shines.";
    $("network").setAttribute("aria-label", `The network of robot ${robot + 1} at work: ${size}`);
    this.stage.draw();
  }

  point(row) {
    const at = row >= 0 ? row : this.map.rows.get(this.state.cells?.[0]);
    const later = this.ready ? "" : ". It will run as soon as the simulator is ready.";
    $("cell").textContent = at === undefined ? "" : this.map.words(at) + later;
  }

  scaled() {
    const [low, high] = this.map.range;
    $("low").textContent = Number.isFinite(low) ? low.toFixed(2) : "";
    $("high").textContent = Number.isFinite(high) ? high.toFixed(2) : "";
  }

  key(event) {
    // Controls use keys themselves, but for this one.
    const control = event.key !== "Escape" && event.target.closest("button, select, input, pre, summary");
    if (!this.stage.swarm || event.ctrlKey || event.altKey || event.metaKey || control && control.id !== "time") return;
    if (event.target === $("map")) return;
    if (event.target === $("arena") && event.key.startsWith("Arrow")) {
      const step = ["ArrowRight", "ArrowUp"].includes(event.key) ? 1 : -1, { robots } = this.stage.swarm;
      const from = this.state.robot < 0 ? (step > 0 ? -1 : robots) : this.state.robot;
      this.pick((from + step + robots) % robots);
    } else if (event.key === " ") this.stage.play(!this.stage.playing);
    else if (event.key === "Escape") this.pick(this.state.robot);
    else return;
    event.preventDefault();
  }

  // Keep the link up to date; what changes more than the view can be undone.
  linked() {
    this.state.time = this.stage.playing ? 0 : this.stage.now;
    clearTimeout(this.linking);
    const { state } = this, entry = entryOf(state);
    const elsewhere = entryOf({ ...state, environment: null, events: [] });
    const environment = JSON.stringify(state.environment);
    // A slider that is dragged is one change.
    const slid = elsewhere === this.elsewhere && environment !== this.environment;
    const dragged = slid && this.slid && performance.now() - this.linkedAt < 1000;
    const first = this.entry === undefined, again = entry === this.entry || dragged;
    if (entry !== this.entry) Object.assign(this, { slid, linkedAt: performance.now() });
    Object.assign(this, { entry, elsewhere, environment });
    const { depth } = this, link = `#${toLink(state)}`;
    const write = () => { // unless the browser has gone elsewhere meanwhile
      if (depth === this.depth && link !== location.hash) history.replaceState(history.state, "", link);
    };
    if (first) write();
    else if (again) this.linking = setTimeout(write, 150);
    else {
      this.deepest = this.depth + 1;
      history.pushState({ depth: this.deepest }, "", link);
    }
    this.undoable();
  }

  get depth() { return history.state?.depth || 0; }

  undoable() {
    $("undo").disabled = this.depth === 0;
    $("redo").disabled = this.depth >= (this.deepest || 0);
  }
}

const page = new Page();
window.explorer = page; // for those who look from the console, and for tests
page.begin().catch((error) => {
  $("busy").textContent = `The explorer could not begin: ${error.message}`;
  $("busy").hidden = false;
  $("starting").hidden = true;
  document.body.dataset.state = "failed";
});
