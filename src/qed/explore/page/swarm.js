// A swarm as the server sends it: series of each robot, read as the drawing code wants them.
const SMALL = 127;

export function opened(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  let at = 4 + size;
  const arrays = {};
  for (const [name, shape, width] of header.arrays) {
    const count = shape.reduce((a, b) => a * b, 1);
    arrays[name] = new (width === 4 ? Float32Array : Int8Array)(buffer, at, count);
    at += count * width;
  }
  const { robots, cycles, networks, letters } = header, rows = cycles + 1;
  const { poses, score, inputs, wheels, hidden } = arrays;
  const most = hidden.length / (robots * cycles) || 0;
  const pose = (what) => (k, row) => poses[(what * robots + k) * rows + row];
  const input = (k, s, row) => inputs[(k * header.sensed + s) * cycles + row - 1] / SMALL;
  const soFar = (row) => (row ? score[row - 1] : 0);
  return {
    ...header,
    // From which cycle on robots have which faults and letters.
    signs: [[0, Array(robots).fill("NONE"), letters],
      ...header.events.map(([cycle, faults]) => [cycle, faults, letters])],
    x: pose(0),
    y: pose(1),
    heading: pose(2),
    near: (k, s, row) => 0.5 * (1 - input(k, s, row)),
    heard: (k, c, row) => 0.5 * (1 + input(k, header.firstRab + c, row)),
    input,
    wheel: (k, w, row) => (row ? wheels[(k * 2 + w) * cycles + row - 1] / SMALL : 0),
    hiddenOf: (k, h, row) => (row ? hidden[(k * most + h) * cycles + row - 1] / SMALL : 0),
    network: (k) => ({ links: networks.links[networks.of[k]], hidden: networks.hidden[networks.of[k]] }),
    score: soFar,
    // The score of the last stretch alone, where scores are means over cycles.
    lately: (row, span) => {
      const before = Math.max(row - span, 0);
      if (!header.means || row === before) return soFar(row);
      return (soFar(row) * row - soFar(before) * before) / (row - before);
    },
    faultsAt(row) { return this.signs.findLast(([cycle]) => cycle <= row)[1]; },
  };
}

// What the drawing code has to know of a swarm.
export const shownData = (swarm, look, themes) => ({
  look: { ...look, ...swarm.body },
  themes,
  task: swarm.task,
  cycle: swarm.cycle,
  cycles: swarm.cycles,
  robots: swarm.robots,
  arena: swarm.environment.arena,
  floor: swarm.floor,
  rabRange: swarm.environment.rab_range,
  proximityRange: swarm.environment.proximity_range,
});
