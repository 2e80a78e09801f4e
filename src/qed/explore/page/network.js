// The network of a chosen robot, alive: what goes in, what goes on, what comes out.
const NAMES = ["front left", "", "front", "", "front right", "rear", "", // proximity
  "ahead", "", "left", "", "behind", "", "right", ""]; // range and bearing

function places(network, { sensed, firstRab, left, firstHidden }, width, height) {
  const at = new Map(), row = (k, count) => 12 + ((height - 24) * (k + 0.5)) / count;
  for (let s = 0; s < sensed; s++) at.set(s, [86, row(s + (s >= firstRab ? 0.6 : 0), sensed + 0.6)]);
  const columns = Math.max(1, Math.ceil(network.hidden / 12));
  for (let h = 0; h < network.hidden; h++) {
    const column = h % columns, count = Math.ceil(network.hidden / columns);
    const across = width * (0.5 + 0.09 * (column - (columns - 1) / 2));
    at.set(firstHidden + h, [across, row(Math.floor(h / columns), count)]);
  }
  at.set(left, [width - 104, height * 0.33]);
  at.set(left + 1, [width - 104, height * 0.67]);
  return at;
}

export function drawNetwork({ pen, width, height }, swarm, robot, row, colours) {
  const { sensed, left, firstHidden } = swarm; // numbers of nodes: inputs, a constant, wheels, hidden
  const network = swarm.network(robot), at = places(network, swarm, width, height);
  const speed = swarm.environment.max_speed;
  const value = (node) => {
    if (node < sensed) return row ? swarm.input(robot, node, row) : 1;
    if (node < left) return 1;
    if (node >= firstHidden) return swarm.hiddenOf(robot, node - firstHidden, row);
    return swarm.wheel(robot, node - left, row);
  };
  pen.lineCap = "round";
  for (const [source, target, weight] of network.links) {
    const from = at.get(source), to = at.get(target);
    if (!from || !to) continue;
    const flow = Math.min(Math.abs(weight * value(source)), 1);
    pen.strokeStyle = (weight * value(source) < 0 ? colours.near : colours.mark) +
      Math.round(40 + 190 * flow).toString(16).padStart(2, "0");
    pen.lineWidth = 0.6 + 1.1 * Math.abs(weight);
    pen.beginPath();
    if (source === target) pen.arc(from[0], from[1] - 8, 6, 0, 2 * Math.PI);
    else {
      pen.moveTo(...from);
      const bend = (to[0] - from[0]) * 0.5 || 40;
      pen.bezierCurveTo(from[0] + bend, from[1], to[0] - bend, to[1], ...to);
    }
    pen.stroke();
  }
  pen.font = '11px system-ui, "DejaVu Sans", sans-serif';
  pen.textBaseline = "middle";
  for (const [node, [x, y]] of at) {
    const now = value(node);
    // An input of 1 is nothing; so what is felt or heard is what shines.
    const shine = node < sensed ? (1 - now) / 2 : Math.abs(now);
    pen.beginPath();
    pen.arc(x, y, node >= firstHidden ? 5 : 4.5, 0, 2 * Math.PI);
    pen.fillStyle = colours.floor;
    pen.fill();
    pen.fillStyle = (node < sensed || now >= 0 ? colours.mark : colours.near) +
      Math.round(255 * Math.min(shine, 1)).toString(16).padStart(2, "0");
    pen.fill();
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    pen.stroke();
    pen.fillStyle = colours.soft;
    pen.textAlign = "right";
    if (NAMES[node]) pen.fillText(NAMES[node], x - 9, y);
  }
  ["left", "right"].forEach((name, w) => {
    const [x, y] = at.get(left + w), now = swarm.wheel(robot, w, row);
    const from = x + 14, long = 84;
    pen.fillStyle = colours.line + "55";
    pen.fillRect(from, y - 5, long, 10);
    pen.fillStyle = now < 0 ? colours.near : colours.mark;
    pen.fillRect(from + long / 2, y - 5, (long / 2) * now, 10);
    pen.fillStyle = colours.soft;
    pen.textAlign = "left";
    pen.fillText(`${name} ${(100 * speed * now).toFixed(1)} cm/s`, from, y + 15);
  });
}
