// The living swarm: one arena or two, time going by, the score, and a robot that is looked at.
import { $, noted, write } from "./dom.js";
import { drawCurve, scored } from "./curve.js";
import { Clock } from "./clock.js";
import { drawNetwork } from "./network.js";
import { scene as sceneOf } from "./scene.js";
import { opened, shownData } from "./swarm.js";

export class Stage extends Clock {
  constructor(config, { moved, picked }) {
    super({
      length: () => (this.swarm ? this.swarm.cycles * this.swarm.cycle : 0),
      later: (now, passed) => now + passed * Number($("speed").value),
      drawn: (passed) => {
        this.draw();
        if (!passed) this.moved();
        else if (this.fresh) { // its second frame: it moves
          this.fresh = false;
          noted("swarm moves");
        }
      },
      switched: () => {
        $("play").textContent = this.playing ? "Pause" : this.ended && this.swarm ? "Again" : "Play";
        if (!this.playing) this.moved();
      },
    });
    Object.assign(this, { config, moved, picked });
    this.panes = []; // {swarm, pane, scene, curve}
    this.robot = -1;
    this.frames = 0;
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => {
      this.panes.forEach((one) => one.scene.themed());
      this.draw();
    });
    new ResizeObserver(() => this.draw()).observe($("arena"));
    new ResizeObserver(() => this.draw()).observe($("curve"));
    $("arena").addEventListener("click", (event) => this.picked(this.robotAt(event)));
    $("arena").addEventListener("pointermove", (event) => {
      $("arena").style.cursor = this.robotAt(event) >= 0 ? "pointer" : "default";
    });
    const scrub = (event) => {
      if (!this.length() || !this.curveRoom) return;
      const box = $("curve").getBoundingClientRect(), { left, right } = this.curveRoom;
      const part = (event.clientX - box.left - left) / (box.width - left - right);
      this.go(Math.min(Math.max(part, 0), 1) * this.length());
    };
    $("curve").addEventListener("pointerdown", (event) => {
      $("curve").setPointerCapture(event.pointerId);
      scrub(event);
    });
    $("curve").addEventListener("pointermove", (event) => { if (event.buttons) scrub(event); });
  }

  get swarm() { return this.panes[0]?.swarm; }
  get cycle() {
    const cycle = Math.min(this.now / this.swarm.cycle, this.swarm.cycles);
    return Math.round(cycle * 1e6) / 1e6;
  }

  // Show swarms that have just been simulated: one, or the broken and the recovered one.
  show(buffers, at) {
    const canvases = [$("arena"), $("beside")];
    const ask = (id) => (id === "sensors" ? { checked: $("sensors").checked || this.robot >= 0 } : $(id));
    $("beside-pane").hidden = buffers.length < 2;
    this.panes = buffers.map((buffer, k) => {
      const swarm = opened(buffer);
      const scene = sceneOf(shownData(swarm, this.config.look, this.config.themes), ask);
      const pane = { ...swarm, canvas: canvases[k], chosen: -1 };
      return { swarm, scene, pane, curve: scored(swarm) };
    });
    if (this.robot >= this.swarm.robots) this.robot = -1;
    this.now = Math.min(at, this.length());
    this.fresh = true;
    $("time").max = this.length();
    $("versus").hidden = this.panes.length < 2;
    $("sofar-line").hidden = !this.swarm.means;
    write("lately-words", this.swarm.means ? "last 20 s" : "so far");
    this.draw();
  }

  // Colours of curves and networks, found again when the page gets dark or light, or has two swarms.
  get colours() {
    const key = `${this.dark.matches} ${this.panes.length}`;
    if (this.coloured !== key) {
      this.coloured = key;
      this.kept = this.found();
      $("lately").style.color = this.kept.scores[0];
      if (this.panes.length > 1) $("versus").style.color = this.kept.scores[1];
    }
    return this.kept;
  }

  found() {
    const look = this.panes[0].scene.look, style = getComputedStyle(document.body);
    return {
      line: look.line, floor: look.floor, ink: look.ink, mark: look.mark, near: look.near,
      soft: style.getPropertyValue("--soft").trim(),
      broke: look.scores[1], healed: "#009e73",
      scores: this.panes.length > 1 ? [look.scores[1], look.scores[2]] : [look.scores[2]],
    };
  }

  draw() {
    if (!this.panes.length || !$("arena").clientWidth) return;
    const cycle = this.cycle, row = Math.floor(cycle);
    for (const { pane, scene } of this.panes) {
      pane.chosen = $("sensors").checked ? -1 : this.robot;
      scene.drawArena(pane, cycle);
      if (this.robot >= 0) this.ring(pane, scene, cycle);
    }
    const { scene, swarm } = this.panes[0], colours = this.colours;
    if ($("curve").clientWidth)
      this.curveRoom = drawCurve(scene.sharp($("curve")), this.panes.map((p) => p.swarm),
        this.panes.map((p) => p.curve), cycle, colours);
    if (this.robot >= 0 && !$("robot-card").hidden)
      drawNetwork(scene.sharp($("network")), swarm, this.robot, row, colours);
    this.frames++;
    this.numbers(row);
  }

  numbers(row) {
    const { swarm } = this, span = Math.round(20 / swarm.cycle);
    write("lately", swarm.lately(row, span).toFixed(3));
    write("sofar", swarm.score(row).toFixed(3));
    if (this.panes.length > 1)
      write("versus", `beside ${this.panes[1].swarm.lately(row, span).toFixed(3)}, ` +
        `so far ${this.panes[1].swarm.score(row).toFixed(3)}`);
    $("time").value = this.now;
    const clock = `${Math.round(this.now)} / ${Math.round(this.length())} s`;
    if (clock !== this.clock) {
      this.clock = clock;
      write("clock", clock);
      $("time").setAttribute("aria-valuetext", clock.replace("/", "s of"));
    }
  }

  // A ring around the robot that is looked at.
  ring(pane, scene, cycle) {
    const pen = pane.canvas.getContext("2d"), at = scene.posesAt(pane, cycle)[this.robot];
    if (!at) return;
    const side = pane.canvas.clientWidth, scale = (side - 4) / this.swarm.environment.arena;
    pen.beginPath();
    pen.arc(2 + scale * at.x, side - 2 - scale * at.y, Math.max(0.12 * scale, 9), 0, 2 * Math.PI);
    pen.strokeStyle = scene.look.mark;
    pen.lineWidth = 2;
    pen.stroke();
  }

  robotAt(event) {
    if (!this.panes.length) return -1;
    const { pane, scene } = this.panes[0], box = pane.canvas.getBoundingClientRect();
    const scale = (box.width - 4) / this.swarm.environment.arena;
    const x = (event.clientX - box.left - 2) / scale, y = (box.height - 2 - event.clientY + box.top) / scale;
    let found = -1, nearest = Math.max(0.13, 14 / scale);
    scene.posesAt(pane, this.cycle).forEach((at, k) => {
      const away = Math.hypot(at.x - x, at.y - y);
      if (away < nearest) { nearest = away; found = k; }
    });
    return found;
  }
}
