// An archive's map on a canvas: cells or points in colours, hover, keys, and what a search tries.
const FLASH = 700; // ms that a cell shines after it was tried

function colourOf(stops) {
  const parts = stops.map((c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)));
  return (share) => {
    const at = Math.min(Math.max(share, 0), 1) * (parts.length - 1);
    const k = Math.min(Math.floor(at), parts.length - 2);
    const mixed = parts[k].map((v, i) => Math.round(v + (at - k) * (parts[k + 1][i] - v)));
    return `rgb(${mixed.join()})`;
  };
}

export class MapView {
  constructor(canvas, stops, { chosen, pointed }) {
    Object.assign(this, { canvas, chosen, pointed, colour: colourOf(stops) });
    this.data = null;
    this.cursor = -1; // row of the cell that is pointed at
    this.selected = [];
    this.marked = []; // rows of a recovery
    this.flashes = new Map(); // row -> when it was tried
    this.values = null; // what colours show; null: fitness in evolution
    this.passes = () => true;
    this.picture = document.createElement("canvas");
    canvas.addEventListener("pointermove", (event) => this.point(this.at(event)));
    canvas.addEventListener("pointerleave", () => this.point(-1));
    // A click is for the cell that is framed: a browser rounds where clicks are, but not moves.
    canvas.addEventListener("pointerdown", (event) => this.point(this.at(event)));
    canvas.addEventListener("click", () => {
      if (this.cursor >= 0) this.chosen(this.data.cells[this.cursor]);
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  show(data) {
    this.data = data;
    this.rows = new Map(data.cells.map((cell, row) => [cell, row]));
    this.values = null;
    this.flashes.clear();
    this.marked = [];
    this.cursor = -1;
    this.canvas.setAttribute("aria-label",
      `Map of ${data.title}. Arrow keys move between cells, Enter runs the cell's controller.`);
    this.resize();
  }

  // Where things are, in css pixels.
  resize() {
    const { data } = this;
    if (!data) return;
    const width = this.canvas.clientWidth;
    if (width < 40) return;
    const levels = (side) =>
      1 + Math.max(-1, ...data.labels.filter((l) => l.side === side).map((l) => l.level));
    const left = 20 + 24 * levels("left"), bottom = 20 + 17 * levels("bottom");
    this.left = left;
    this.top = data.titles.length ? 20 : 6;
    this.unit = (width - left - 6) / data.width;
    const height = Math.round(this.unit * data.height + this.top + bottom);
    if (this.canvas.style.height !== `${height}px`) this.canvas.style.height = `${height}px`;
    this.height = height;
    this.bottom = height - bottom;
    this.paint();
  }

  place(row) {
    const { x, y, kind } = this.data, side = this.unit;
    if (kind === "points") {
      const size = Math.max(7, 2.1 * side);
      return [this.left + x[row] * side - size / 2, this.bottom - y[row] * side - size / 2, size];
    }
    return [this.left + x[row] * side, this.bottom - (y[row] + 1) * side, side];
  }

  get range() {
    const shown = this.values || this.data.fitness;
    let low = Infinity, high = -Infinity;
    for (const value of shown) if (value !== null) { low = Math.min(low, value); high = Math.max(high, value); }
    return [low, high];
  }

  // Everything but what moves, kept as a picture.
  paint() {
    const { data, canvas, picture } = this;
    if (!data || !this.unit) return;
    const ratio = window.devicePixelRatio || 1;
    const style = getComputedStyle(document.body), tone = (name) => style.getPropertyValue(name).trim();
    picture.width = Math.round(canvas.clientWidth * ratio);
    picture.height = Math.round(this.height * ratio);
    const pen = picture.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = tone("--empty");
    for (const [x, y, w, h] of data.blocks)
      pen.fillRect(this.left + x * this.unit, this.bottom - (y + h) * this.unit, w * this.unit, h * this.unit);
    const [low, high] = this.range, shown = this.values || data.fitness;
    // The least bit less than a cell where there is room, so that cells are seen as such.
    const gap = data.kind === "cells" && this.unit > 6 ? 0.6 : 0;
    data.cells.forEach((_, row) => {
      const [x, y, side] = this.place(row);
      const value = shown[row];
      pen.globalAlpha = this.passes(row) ? 1 : 0.1;
      pen.fillStyle = value === null || value === undefined ? tone("--untried")
        : this.colour(high > low ? (value - low) / (high - low) : 1);
      if (data.kind === "points") {
        pen.beginPath();
        pen.arc(x + side / 2, y + side / 2, side / 2, 0, 2 * Math.PI);
        pen.fill();
        pen.strokeStyle = tone("--card");
        pen.lineWidth = 0.5;
        pen.stroke();
      } else pen.fillRect(x, y, side - gap + (gap ? 0 : 0.4), side - gap + (gap ? 0 : 0.4));
    });
    pen.globalAlpha = 1;
    this.letters(pen, tone);
    this.draw();
  }

  letters(pen, tone) {
    const { data } = this, face = 'system-ui, "DejaVu Sans", sans-serif';
    pen.fillStyle = tone("--soft");
    pen.textAlign = "center";
    const depth = { bottom: 0, left: 0 };
    for (const { side, level } of data.labels) depth[side] = Math.max(depth[side], level + 1);
    for (const { side, level, at, text } of data.labels) {
      pen.font = `${level ? 10 : 12}px ${face}`;
      pen.textBaseline = "middle";
      const inward = depth[side] - 1 - level; // the innermost labels are nearest to the cells
      if (side === "bottom") pen.fillText(text, this.left + at * this.unit, this.bottom + 10 + 16 * inward);
      else pen.fillText(text, this.left - 12 - 22 * inward, this.bottom - at * this.unit);
    }
    pen.textBaseline = "alphabetic";
    pen.font = `11px ${face}`;
    const wide = data.blocks.length ? data.blocks[0][2] * this.unit : 0;
    for (const { x, y, text } of data.titles) // the value alone where its name has no room
      pen.fillText(pen.measureText(text).width > wide ? text.split(" ").at(-1) : text,
        this.left + x * this.unit, this.bottom - y * this.unit - 3);
    pen.font = `12px ${face}`;
    const fitted = (text, room) => {
      let shown = text;
      while (shown.length > 4 && pen.measureText(shown).width > room)
        shown = `${shown.slice(0, -2).trimEnd()}…`;
      return shown.replace(/.…$/, "…");
    };
    const middle = this.left + (data.width * this.unit) / 2;
    pen.fillText(fitted(data.across, this.canvas.clientWidth - this.left), middle, this.height - 4);
    pen.save();
    pen.translate(12, this.bottom - (data.height * this.unit) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(fitted(data.upwards, this.bottom - this.top), 0, 0);
    pen.restore();
  }

  // What moves: the chosen cells, the one that is pointed at, those just tried.
  draw() {
    const { canvas, picture, data } = this;
    if (!data || !picture.width) return;
    if (canvas.width !== picture.width || canvas.height !== picture.height) {
      canvas.width = picture.width;
      canvas.height = picture.height;
    }
    const ratio = window.devicePixelRatio || 1, pen = canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(picture, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(document.body), tone = (name) => style.getPropertyValue(name).trim();
    const now = performance.now();
    for (const [row, since] of this.flashes) {
      const left = 1 - (now - since) / FLASH;
      if (left <= 0) { this.flashes.delete(row); continue; }
      const [x, y, side] = this.place(row);
      pen.globalAlpha = left;
      pen.fillStyle = "#ffffff";
      pen.fillRect(x - 1, y - 1, side + 2, side + 2);
      pen.globalAlpha = 1;
    }
    const frame = (row, shade, wide, out) => {
      if (row === undefined || row < 0) return;
      const [x, y, side] = this.place(row);
      for (const [colour, thick] of [[tone("--card"), wide + 2.4], [shade, wide]]) {
        pen.strokeStyle = colour;
        pen.lineWidth = thick;
        pen.beginPath();
        if (data.kind === "points") pen.arc(x + side / 2, y + side / 2, side / 2 + out, 0, 2 * Math.PI);
        else pen.rect(x - out, y - out, side + 2 * out, side + 2 * out);
        pen.stroke();
      }
    };
    this.marked.forEach((row) => frame(row, tone("--mark"), 2.5, 3));
    this.selected.forEach((cell) => frame(this.rows.get(cell), tone("--warm"), 2.5, 2.5));
    frame(this.cursor, tone("--ink"), 1.5, 1.5);
    if (this.flashes.size && !this.pending) {
      this.pending = true;
      requestAnimationFrame(() => { this.pending = false; this.draw(); });
    }
  }

  // The map with its labels, on the page's own ground.
  photograph(given) {
    const { picture } = this, whole = document.createElement("canvas"), pen = whole.getContext("2d");
    Object.assign(whole, { width: picture.width, height: picture.height });
    pen.fillStyle = getComputedStyle(document.body).getPropertyValue("--card");
    pen.fillRect(0, 0, whole.width, whole.height);
    pen.drawImage(picture, 0, 0);
    whole.toBlob(given);
  }

  at(event) {
    if (!this.data) return -1;
    const box = this.canvas.getBoundingClientRect();
    const px = event.clientX - box.left, py = event.clientY - box.top;
    let found = -1, nearest = this.data.kind === "points" ? 14 : 1;
    this.data.cells.forEach((_, row) => {
      const [x, y, side] = this.place(row);
      const away = Math.max(Math.abs(px - x - side / 2), Math.abs(py - y - side / 2)) - side / 2;
      if (away < nearest && this.passes(row)) { nearest = away; found = row; }
    });
    return found;
  }

  point(row) {
    if (row === this.cursor) return;
    this.cursor = row;
    this.canvas.style.cursor = row >= 0 ? "pointer" : "default";
    this.pointed(row);
    this.draw();
  }

  key(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (way) {
      const from = this.cursor >= 0 ? this.cursor : this.rows.get(this.selected[0]) ?? 0;
      const { x, y } = this.data;
      let found = -1, least = Infinity;
      this.data.cells.forEach((_, row) => {
        const dx = x[row] - x[from], dy = y[row] - y[from];
        const along = dx * way[0] + dy * way[1], beside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
        if (along <= 1e-6 || !this.passes(row)) return;
        const cost = along + 3 * beside;
        if (cost < least) { least = cost; found = row; }
      });
      if (found >= 0) this.point(found);
    } else if ((event.key === "Enter" || event.key === " ") && this.cursor >= 0)
      this.chosen(this.data.cells[this.cursor]);
    else return;
    event.preventDefault();
  }

  // A search: nothing is known of the broken swarm yet; cells get their colour when they are tried.
  untried() {
    this.values = new Array(this.data.cells.length).fill(null);
    this.marked = [];
    this.paint();
  }

  tried(cells, fitness, shine = true) {
    this.values ||= new Array(this.data.cells.length).fill(null);
    const now = performance.now();
    cells.forEach((cell, k) => {
      const row = this.rows.get(cell);
      if (row === undefined) return;
      this.values[row] = fitness[k];
      if (shine) this.flashes.set(row, now);
    });
    this.paint();
  }

  words(row) {
    const { data } = this, cell = data.cells[row];
    const described = data.words ? data.words[row]
      : data.attributes.map((a) => (a.words || a.options)[a.values[row]]).join(", ");
    const now = this.values && this.values[row] !== null && this.values[row] !== undefined
      ? `, ${this.values[row].toFixed(3)} ${this.valueWords}` : "";
    return `Cell ${cell}: fitness ${data.fitness[row].toFixed(3)}${now}${described ? ` · ${described}` : ""}`;
  }
}
