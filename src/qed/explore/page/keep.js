// What is seen, kept: a link, a film, the lines of Python that do the same.
import * as api from "./api.js";
import { $, called, made } from "./dom.js";
import { asked, toLink } from "./state.js";

export class Keeping {
  constructor(page) {
    this.page = page;
    this.running = null;
    $("link").addEventListener("click", () => {
      const { state, stage } = page;
      const link = `${location.origin}${location.pathname}#${toLink({ ...state, time: stage.now })}`;
      history.replaceState(null, "", link);
      this.copy(link, "The link is copied; it works while this explorer runs.");
    });
    $("python").addEventListener("click", () => this.copy($("lines").textContent, "The lines are copied."));
    const saved = (id, work) => $(id).addEventListener("click", async () => {
      try { await work(); } catch (error) { $("kept").textContent = error.message; }
    });
    saved("save-controller", async () => {
      const made = await api.table("controller", { state: asked(page.state) });
      this.save(new Blob([JSON.stringify(made, null, 1)]), `qed-${called(page.state.cells).replaceAll(" ", "-")}.json`);
    });
    saved("save-kit", async () => {
      const { archive } = page.state;
      this.save(new Blob([await api.bytes("kit", { archive })]), `qed-${page.archive.task}-kit.npz`);
    });
    saved("save-session", async () => {
      const session = await api.table("session", { link: toLink(page.state) });
      this.save(new Blob([JSON.stringify(session, null, 1)]), "qed-session.json");
    });
    saved("save-map", () => new Promise((done) => page.map.photograph((blob) => {
      this.save(blob, "qed-map.png");
      done();
    })));
    $("film").addEventListener("click", () => {
      if (!this.running) { this.film(); return; }
      this.running.abort();
      this.stopping = api.table("stop", { what: "film" }).catch(() => {});
    });
  }

  async copy(text, words) {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // a browser that asks, or has no clipboard: the old way
      const box = made("textarea");
      box.value = text;
      document.body.append(box);
      box.select();
      document.execCommand("copy");
      box.remove();
    }
    $("kept").textContent = words;
  }

  save(blob, name) {
    const link = made("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    $("kept").textContent = `${name} is saved.`;
  }

  async show() {
    const { state } = this.page, mine = (this.asking = {});
    $("save-kit").disabled = !this.page.archive.kit;
    try {
      const { text } = await api.table("lines", { state: asked(state), way: state.way });
      if (mine === this.asking) $("lines").textContent = text;
    } catch (error) {
      $("lines").textContent = `# ${error.message}`;
    }
  }

  async film() {
    const { state } = this.page, kind = $("film-kind").value, mine = (this.running = new AbortController());
    const given = { state: asked(state), film: kind, trails: state.trails, sensors: state.sensors };
    if (state.beside) given.beside = asked(state, state.beside);
    $("film").textContent = "Stop";
    $("film-progress").hidden = false;
    $("film-progress").removeAttribute("value");
    $("kept").textContent = "Drawing the film…";
    try {
      await this.stopping;
      await api.stream("film", given, (event) => {
        if (event.kind === "tried") $("film-progress").value = event.done / event.total;
        if (event.kind !== "film") return;
        const link = made("a");
        link.href = `api/film/${event.name}`;
        link.download = `qed-swarm.${kind}`;
        link.click();
        $("kept").textContent = `The film is there (${Math.ceil(event.bytes / 1000).toLocaleString("en")} kB).`;
      }, mine.signal);
    } catch (error) {
      $("kept").textContent = mine.signal.aborted ? "Stopped." : error.message;
    } finally {
      this.running = null;
      $("film").textContent = "Make film";
      $("film-progress").hidden = true;
    }
  }
}
