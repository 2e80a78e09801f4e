// Running scores as curves: the last stretch of time, the whole time, and when robots broke.
const SPAN = 20; // s that "lately" looks back

// Points of a swarm's curves, found once: a row, its score lately, its score so far.
export function scored(swarm) {
  const step = Math.max(1, Math.floor(swarm.cycles / 300));
  const span = Math.round(SPAN / swarm.cycle), points = [];
  for (let row = step; row <= swarm.cycles; row += step)
    points.push([row, swarm.lately(row, span), swarm.score(row)]);
  return points;
}

export function highest(curves) {
  let top = 1e-6;
  // The first moments of a trial are left out: a mean over few cycles may be anything.
  for (const points of curves)
    for (const [row, late, all] of points) if (row > points.at(-1)[0] / 20) top = Math.max(top, late, all);
  return top * 1.08;
}

// Draw swarms' scores, each in its colour, up to a cycle; the future is faint.
export function drawCurve({ pen, width, height }, swarms, curves, cycle, colours) {
  const { line, floor, ink, soft } = colours;
  const left = 34, right = 8, top = 8, bottom = 20;
  const high = highest(curves), cycles = swarms[0].cycles;
  const x = (row) => left + ((width - left - right) * row) / cycles;
  const y = (score) => height - bottom - ((height - top - bottom) * Math.min(score, high)) / high;
  pen.fillStyle = floor;
  pen.fillRect(left, top, width - left - right, height - top - bottom);
  pen.font = '11px system-ui, "DejaVu Sans", sans-serif';
  pen.fillStyle = soft;
  pen.strokeStyle = line;
  pen.lineWidth = 0.5;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  const unit = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10].find((u) => high / u <= 4) || high;
  for (let value = 0; value <= high; value += unit) {
    pen.fillText(String(Number(value.toFixed(2))), left - 5, y(value));
    pen.beginPath();
    pen.moveTo(left, y(value));
    pen.lineTo(width - right, y(value));
    pen.stroke();
  }
  pen.textAlign = "center";
  pen.textBaseline = "alphabetic";
  const { cycle: step } = swarms[0], seconds = cycles * step;
  const tick = [10, 20, 50, 100, 200, 500].find((t) => seconds / t <= 5) || seconds;
  for (let at = 0; at <= seconds; at += tick) {
    const text = at + tick > seconds ? `${at} s` : String(at);
    pen.fillText(text, Math.min(x(at / step), width - 18), height - 5);
  }
  pen.lineJoin = "round";
  const trace = (points, which, shade, thick) => {
    pen.beginPath();
    points.forEach((point, i) => pen[i ? "lineTo" : "moveTo"](x(point[0]), y(point[which])));
    pen.strokeStyle = shade;
    pen.lineWidth = thick;
    pen.stroke();
  };
  curves.forEach((points, k) => {
    const past = points.filter(([row]) => row <= cycle);
    trace(points, 1, colours.scores[k] + "40", 1.5);
    trace(past, 2, colours.scores[k] + "70", 1);
    trace(past, 1, colours.scores[k], 2.2);
  });
  pen.setLineDash([3, 3]);
  for (const [at, faults] of swarms[0].events) {
    pen.strokeStyle = faults.every((name) => name === "NONE") ? colours.healed : colours.broke;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x(at), top);
    pen.lineTo(x(at), height - bottom);
    pen.stroke();
  }
  pen.setLineDash([]);
  pen.strokeStyle = ink;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(x(cycle), top);
  pen.lineTo(x(cycle), height - bottom);
  pen.stroke();
  return { left, right, span: SPAN };
}
