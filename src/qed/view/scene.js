// What a replay shows and how it is drawn on canvases; lengths are in metres.  It is a part of a
// function that has ``data``, what is shown, and ``$``, which finds the switches by their names.
const look = data.look;
const darkness = matchMedia("(prefers-color-scheme: dark)");
let dark; // what the colours are for
function themed() {
  dark = darkness.matches;
  Object.assign(look, data.themes[dark ? "dark" : "light"]);
}
themed();
const patrol = data.task === "patrolling" || data.task === "border-patrolling";
const WALL = 2; // css pixels

// ---- data ----------------------------------------------------------------------------------
async function unpacked(text, type) {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new type(await new Response(stream).arrayBuffer());
}

const scores = (steps) => (row) => (row ? steps[row - 1] / data.scoreSteps : 0);
const colour = (fault) => (fault === "NONE" ? look.healthy : look.signs[fault].colour);

async function opened(pane) {
  const rows = data.cycles + 1;
  const poses = await unpacked(pane.poses, Int16Array);
  // Stored is the change from cycle to cycle, which wraps around as 16-bit numbers do.
  for (let i = 0; i < poses.length; i++) if (i % rows) poses[i] += poses[i - 1];
  const series = (what, robot) => (what * data.robots + robot) * rows;
  const at = (what, robot, row) => poses[series(what, robot) + row];
  const proximity = await unpacked(pane.proximity, Uint8Array);
  const rab = await unpacked(pane.rab, Uint8Array);
  return {
    ...pane,
    x: (k, row) => at(0, k, row) * data.unit,
    y: (k, row) => at(1, k, row) * data.unit,
    heading: (k, row) => at(2, k, row) / 1000,
    score: scores(await unpacked(pane.score, Int16Array)),
    near: (k, s, row) => proximity[(k * look.rays.length + s) * data.cycles + row - 1] / data.nearSteps,
    heard: (k, c, row) => rab[(k * look.cones + c) * data.cycles + row - 1] / data.heardSteps,
  };
}

// How robots are told apart at a time: their faults, and letters if they are a team.
function signed(pane, cycle) {
  [, pane.faults, pane.letters] = pane.signs.findLast(([begin]) => begin <= cycle);
  pane.broken = pane.faults.map((_, k) => k).filter((k) => pane.faults[k] !== "NONE");
}

// Shade of each patrolling cell after each cycle: full at a visit, fading to none.
function shades(pane) {
  const size = look.grid, all = new Uint8Array((data.cycles + 1) * size * size);
  const value = new Float32Array(size * size);
  const index = (v) => Math.min(Math.max(Math.floor((v * size) / data.arena), 0), size - 1);
  for (let row = 1; row <= data.cycles; row++) {
    for (let i = 0; i < value.length; i++) value[i] = Math.max(value[i] - 1 / look.cellLife, 0);
    for (let k = 0; k < data.robots; k++)
      value[index(pane.x(k, row)) * size + index(pane.y(k, row))] = 1;
    for (let i = 0; i < value.length; i++)
      all[row * size * size + i] = Math.ceil(value[i] * look.steps - 1e-6);
  }
  return all;
}

function posesAt(pane, cycle) {
  const before = Math.min(Math.floor(cycle), data.cycles);
  const after = Math.min(before + 1, data.cycles), part = cycle - before;
  return Array.from({ length: data.robots }, (_, k) => {
    const x = pane.x(k, before), y = pane.y(k, before), heading = pane.heading(k, before);
    let turn = pane.heading(k, after) - heading;
    turn -= 2 * Math.PI * Math.round(turn / (2 * Math.PI)); // the short way round
    return {
      x: x + part * (pane.x(k, after) - x),
      y: y + part * (pane.y(k, after) - y),
      heading: heading + part * turn,
    };
  });
}

// ---- drawing -------------------------------------------------------------------------------
const mixed = (one, other, share) => {
  const parts = (c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16));
  const to = parts(other);
  return `rgb(${parts(one).map((v, i) => Math.round(v + share * (to[i] - v))).join()})`;
};

// A canvas as sharp as the screen; returns its context, in css pixels.
function sharp(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height };
}

function path(pen, points, closed) {
  pen.beginPath();
  points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  if (closed) pen.closePath();
}

function drawArena(pane, cycle, trails = $("trails").checked) {
  const { pen, width: side } = sharp(pane.canvas);
  if (side < 20) return;
  const scale = (side - 2 * WALL) / data.arena;
  const place = (x, y) => [WALL + scale * x, side - WALL - scale * y];
  const row = Math.min(Math.floor(cycle), data.cycles);
  const poses = posesAt(pane, cycle);
  signed(pane, cycle);
  const line = (points, colour, thick) => {
    path(pen, points.map((p) => place(...p)));
    pen.strokeStyle = colour;
    pen.lineWidth = thick;
    pen.stroke();
  };
  pen.lineJoin = "round";
  pen.fillStyle = look.floor;
  pen.fillRect(0, 0, side, side);
  if (data.floor) drawFloor(pen, side);
  if (patrol) drawCells(pen, pane, row, side);
  if (trails) drawTrails(pane, row, poses, line);
  drawMarks(pen, poses, line, place, scale);
  if ($("sensors").checked && row) drawSensors(pen, pane, row, poses, line, place);
  for (const [x, y, radius] of pane.obstacles) {
    pen.beginPath();
    pen.arc(...place(x, y), (radius ?? look.obstacleRadius) * scale, 0, 2 * Math.PI);
    pen.fillStyle = look.obstacle;
    pen.fill();
    pen.strokeStyle = "#7d8890";
    pen.lineWidth = 1;
    pen.stroke();
  }
  poses.forEach((at, k) => {
    const cos = Math.cos(at.heading), sin = Math.sin(at.heading);
    const turned = ([x, y]) => place(at.x + cos * x - sin * y, at.y + sin * x + cos * y);
    path(pen, look.pointer.map(turned), true);
    pen.fillStyle = look.ink;
    pen.fill();
    path(pen, look.outline.map(turned), true);
    pen.fillStyle = colour(pane.faults[k]);
    pen.fill();
    pen.strokeStyle = look.ink;
    pen.lineWidth = 1;
    pen.stroke();
    if (!pane.letters.length) return;
    pen.font = `bold ${Math.max(12, 1.4 * scale * look.bodyRadius)}px system-ui, "DejaVu Sans"`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    // A letter may be larger than a small body, so it brings the body's colour along.
    pen.strokeStyle = colour(pane.faults[k]);
    pen.lineWidth = 4;
    pen.strokeText(pane.letters[k], ...place(at.x, at.y));
    pen.fillStyle = pane.faults[k] === "NONE" ? look.floor : look.badgeInk;
    pen.fillText(pane.letters[k], ...place(at.x, at.y));
  });
  pen.strokeStyle = look.ink;
  pen.lineWidth = WALL;
  pen.strokeRect(WALL / 2, WALL / 2, side - WALL, side - WALL);
  if ($("badges").checked) drawBadges(pen, pane, poses.map((p) => place(p.x, p.y)), scale, side);
}

// The greys of the floor, from below; white is as the floor is without them.
function drawFloor(pen, side) {
  const high = (side - 2 * WALL) / data.floor.length;
  data.floor.forEach((greys, up) => greys.forEach((grey, column) => {
    const wide = (side - 2 * WALL) / greys.length;
    pen.fillStyle = mixed(look.floor, look.black, 1 - grey);
    pen.fillRect(WALL + column * wide, side - WALL - (up + 1) * high, wide + 1, high + 1);
  }));
}

function drawCells(pen, pane, row, side) {
  pane.shades ??= shades(pane);
  const size = look.grid, step = (side - 2 * WALL) / size;
  for (let column = 0; column < size; column++)
    for (let up = 0; up < size; up++) {
      const inner = [column, up].every((v) => v > 0 && v < size - 1);
      const shade = pane.shades[(row * size + column) * size + up];
      if (!shade || (inner && data.task === "border-patrolling")) continue;
      pen.fillStyle = data.floor ? look.fresh : look.freshness[shade];
      pen.globalAlpha = data.floor ? look.veil * shade / look.steps : 1;
      // Half a pixel more, so that no seams show between cells.
      pen.fillRect(WALL + column * step, side - WALL - (up + 1) * step, step + 0.5, step + 0.5);
    }
  pen.globalAlpha = 1;
}

function drawTrails(pane, row, poses, line) {
  const first = Math.max(0, row - Math.round(look.trail / data.cycle));
  for (let part = 0; part < 3; part++) {
    const begin = first + Math.floor(((row - first) * part) / 3);
    const end = first + Math.floor(((row - first) * (part + 1)) / 3);
    poses.forEach((at, k) => {
      const way = [];
      for (let i = begin; i <= end; i++) way.push([pane.x(k, i), pane.y(k, i)]);
      if (part === 2) way.push([at.x, at.y]);
      line(way, mixed(look.floor, colour(pane.faults[k]), 0.25 + 0.2 * part), 1.5);
    });
  }
}

function drawMarks(pen, poses, line, place, scale) {
  const apart = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);
  const link = (a, b, colour, thick) => line([[a.x, a.y], [b.x, b.y]], colour, thick);
  if (data.task === "aggregation") {
    const mean = (name) => poses.reduce((sum, p) => sum + p[name], 0) / poses.length;
    const x = mean("x"), y = mean("y"), arm = 1.6 * look.centreSize;
    pen.beginPath();
    pen.arc(...place(x, y), look.centreSize * scale, 0, 2 * Math.PI);
    pen.strokeStyle = look.mark;
    pen.lineWidth = 1.5;
    pen.stroke();
    line([[x - arm, y], [x + arm, y]], look.mark, 1.5);
    line([[x, y - arm], [x, y + arm]], look.mark, 1.5);
  }
  if (data.task === "dispersion" && poses.length > 1) {
    const nearest = poses.map((a, i) => {
      const all = poses.map((b, k) => (k === i ? Infinity : apart(a, b)));
      return all.indexOf(Math.min(...all));
    });
    nearest.forEach((k, i) => {
      if (nearest[k] !== i || i < k) link(poses[i], poses[k], look.mark + "82", 1);
    });
  }
  if (data.task === "flocking")
    poses.forEach((a, i) => poses.slice(i + 1).forEach((b) => {
      if (apart(a, b) < look.flockRange) link(a, b, look.mark + "96", 1.5);
    }));
}

function drawSensors(pen, pane, row, poses, line, place) {
  poses.forEach((at, k) => {
    if (pane.chosen >= 0 && k !== pane.chosen) return; // one robot alone is looked at
    for (let cone = 0; cone < look.cones; cone++) {
      const far = pane.heard(k, cone, row) * data.rabRange;
      if (pane.heard(k, cone, row) >= 1) continue;
      const middle = at.heading + (cone * 2 * Math.PI) / look.cones;
      const rim = [-3, -2, -1, 0, 1, 2, 3].map((i) => middle + (i * Math.PI) / 24);
      const points = rim.map((a) => [at.x + far * Math.cos(a), at.y + far * Math.sin(a)]);
      path(pen, [[at.x, at.y], ...points].map((p) => place(...p)), true);
      pen.fillStyle = look.mark + "16";
      pen.fill();
      pen.strokeStyle = look.mark + "32";
      pen.lineWidth = 0.7;
      pen.stroke();
    }
    look.rays.forEach(([x, y, angle], s) => {
      const cos = Math.cos(at.heading), sin = Math.sin(at.heading), way = at.heading + angle;
      const from = [at.x + cos * x - sin * y, at.y + sin * x + cos * y];
      const to = [from[0] + data.proximityRange * Math.cos(way),
        from[1] + data.proximityRange * Math.sin(way)];
      line([from, to], pane.near(k, s, row) > look.nothing ? look.near : look.ink + "2d", 1.5);
    });
  });
}

// Places for badges: above their robots, away from others, pushed apart where they overlap.
function placed(robots, owners, sizes, reach, side) {
  const edge = 3;
  const clip = (v, half) => Math.min(Math.max(v, edge + half), side - edge - half);
  const centres = owners.map((owner, i) => {
    const [x, y] = robots[owner], [wide, high] = sizes[i];
    let tx = 0, ty = y - reach - high < edge ? look.badgeBias : -look.badgeBias;
    robots.forEach(([ox, oy], k) => {
      const far = Math.hypot(x - ox, y - oy);
      const near = Math.min(Math.max(2 - far / (2.5 * reach), 0), 1);
      if (k === owner || far < 1e-6) return;
      tx += ((x - ox) / far) * near;
      ty += ((y - oy) / far) * near;
    });
    const length = Math.max(Math.hypot(tx, ty), 1e-6);
    return [x + (tx / length) * (reach + wide / 2), y + (ty / length) * (reach + high / 2)];
  });
  for (let round = 0; round < 40; round++) {
    centres.forEach((c, i) => { c[0] = clip(c[0], sizes[i][0] / 2); c[1] = clip(c[1], sizes[i][1] / 2); });
    const steps = centres.map(() => [0, 0]);
    const push = (i, dx, dy, roomX, roomY) => {
      const mx = roomX - Math.abs(dx), my = roomY - Math.abs(dy);
      if (mx <= 0 || my <= 0) return;
      if (mx < my) steps[i][0] += 0.5 * (dx < 0 ? -mx : mx);
      else steps[i][1] += 0.5 * (dy < 0 ? -my : my);
    };
    centres.forEach(([x, y], i) => {
      const [wide, high] = sizes[i];
      centres.forEach(([ox, oy], k) => {
        if (k !== i) push(i, x - ox, y - oy + 1e-3 * Math.sign(i - k),
          (wide + sizes[k][0]) / 2, (high + sizes[k][1]) / 2);
      });
      if (round < 25) robots.forEach(([ox, oy]) =>
        push(i, x - ox, y - oy, wide / 2 + 0.75 * reach, high / 2 + 0.75 * reach));
    });
    if (Math.max(0, ...steps.flat().map(Math.abs)) < 0.25) break;
    centres.forEach((c, i) => { c[0] += 0.6 * steps[i][0]; c[1] += 0.6 * steps[i][1]; });
  }
  return centres.map((c, i) => [clip(c[0], sizes[i][0] / 2), clip(c[1], sizes[i][1] / 2)]);
}

function drawBadges(pen, pane, robots, scale, side) {
  const high = Math.max(14, 0.038 * side), reach = scale * look.bodyRadius;
  pen.font = `bold ${Math.round(0.8 * high)}px system-ui, "DejaVu Sans", sans-serif`;
  pen.textAlign = "center";
  pen.textBaseline = "alphabetic";
  const words = pane.broken.map((k) => look.signs[pane.faults[k]].badge);
  const sizes = words.map((w) => [Math.max(high, pen.measureText(w).width + 0.36 * high), high]);
  const centres = placed(robots, pane.broken, sizes, reach, side);
  centres.forEach((centre, i) => {
    const owner = robots[pane.broken[i]];
    if (Math.hypot(centre[0] - owner[0], centre[1] - owner[1]) < 1.6 * reach + high / 2) return;
    path(pen, [centre, owner]);
    pen.strokeStyle = look.ink;
    pen.lineWidth = 1;
    pen.stroke();
  });
  centres.forEach(([x, y], i) => {
    const [wide] = sizes[i];
    pen.beginPath();
    pen.roundRect(x - wide / 2, y - high / 2, wide, high, high / 4);
    pen.fillStyle = look.signs[pane.faults[pane.broken[i]]].colour;
    pen.fill();
    pen.strokeStyle = "#ffffff";
    pen.lineWidth = 1;
    pen.stroke();
    pen.fillStyle = look.badgeInk;
    pen.fillText(words[i], x, y + 0.29 * high);
  });
}

function drawScore(pane, cycle) {
  const shade = look.scores[pane.moment];
  const row = Math.min(Math.floor(cycle), data.cycles);
  pane.number.textContent = pane.score(row).toFixed(3);
  pane.number.style.color = shade;
  const { pen, width, height } = sharp(pane.curve);
  pen.fillStyle = look.floor;
  pen.fillRect(0, 0, width, height);
  const step = Math.max(1, Math.floor(data.cycles / 160));
  const points = (of) => {
    const way = [];
    for (let i = 1; i < row; i += step) way.push(i);
    if (row) way.push(row);
    return way.map((i) => [5 + ((width - 10) * i) / data.cycles,
      height - 5 - ((height - 10) * of(i)) / data.topScore]);
  };
  const stroke = (way, colour, thick) => {
    path(pen, way);
    pen.strokeStyle = colour;
    pen.lineWidth = thick;
    pen.stroke();
  };
  if (pane.before) stroke(points(pane.before), look.line, 2);
  stroke(points(pane.score), shade, 2);
  for (const [begin] of pane.signs.slice(1)) { // when robots broke
    const x = 5 + ((width - 10) * begin) / data.cycles;
    if (begin <= cycle) stroke([[x, 0], [x, height]], look.line, 1);
  }
  const last = points(pane.score).at(-1);
  if (last) {
    pen.beginPath();
    pen.arc(...last, 3, 0, 2 * Math.PI);
    pen.fillStyle = shade;
    pen.fill();
  }
  pen.strokeStyle = look.line;
  pen.lineWidth = 1;
  pen.strokeRect(0.5, 0.5, width - 1, height - 1);
}
