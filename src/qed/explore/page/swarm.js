// A swarm as the server sends it: series of each robot, read as the drawing code wants them.
const SMALL = 127;

export function opened(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const told = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  let at = 4 + size;
  const arrays = {};
  for (const [name, shape, width] of told.arrays) {
    const count = shape.reduce((a, b) => a * b, 1);
    arrays[name] = new (width === 4 ? Float32Array : Int8Array)(buffer, at, count);
    at += count * width;
  }
  const { robots, cycles, networks } = told, rows = cycles + 1;
  const { poses, score, inputs, wheels, hidden } = arrays;
  const most = hidden.length / (robots * cycles) || 0;
  const pose = (what) => (k, row) => poses[(what * robots + k) * rows + row];
  const input = (k, s, row) => inputs[(k * 15 + s) * cycles + row - 1] / SMALL;
  const soFar = (row) => (row ? score[row - 1] : 0);
  return {
    ...told,
    x: pose(0),
    y: pose(1),
    heading: pose(2),
    near: (k, s, row) => 0.5 * (1 - input(k, s, row)),
    heard: (k, c, row) => 0.5 * (1 + input(k, 7 + c, row)),
    input,
    wheel: (k, w, row) => (row ? wheels[(k * 2 + w) * cycles + row - 1] / SMALL : 0),
    hiddenOf: (k, h, row) => (row ? hidden[(k * most + h) * cycles + row - 1] / SMALL : 0),
    network: (k) => ({ links: networks.links[networks.of[k]], hidden: networks.hidden[networks.of[k]] }),
    score: soFar,
    // The score of the last stretch alone, where scores are means over cycles.
    lately: (row, span) => {
      const before = Math.max(row - span, 0);
      if (!told.means || row === before) return soFar(row);
      return (soFar(row) * row - soFar(before) * before) / (row - before);
    },
    faultsAt: (row) => {
      let found = null;
      for (const [cycle, faults] of told.events) if (cycle <= row) found = faults;
      return found || Array(robots).fill("NONE");
    },
  };
}

// A pane for the drawing code: a swarm on a canvas.
export function paned(swarm, canvas, scene) {
  const { of } = swarm.networks;
  // The robots of a team are told apart by letters.
  const letters = new Set(of).size > 1 ? of.map((k) => String.fromCharCode(65 + (k % 26))) : [];
  const pane = { ...swarm, canvas, letters, chosen: -1, faults: [], broken: [] };
  if (swarm.task === "patrolling" || swarm.task === "border-patrolling")
    pane.shades = scene.shades(pane);
  return pane;
}

export function drawn(pane, scene, cycle) {
  pane.faults = pane.faultsAt(Math.floor(cycle));
  pane.broken = pane.faults.map((_, k) => k).filter((k) => pane.faults[k] !== "NONE");
  scene.drawArena(pane, cycle);
}

// What the drawing code has to know of a swarm.
export const shownData = (swarm, look, themes) => ({
  look: { ...look },
  themes,
  task: swarm.task,
  cycle: swarm.cycle,
  cycles: swarm.cycles,
  robots: swarm.robots,
  arena: swarm.environment.arena,
  rabRange: swarm.environment.rab_range,
  proximityRange: swarm.environment.proximity_range,
});
