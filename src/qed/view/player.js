// The panes of a replay.
function build(pane, box, name) {
  const own = made("section", box, undefined, "pane");
  made(name ? "h3" : "h2", own, pane.title);
  pane.canvas = made("canvas", own, undefined, "arena");
  pane.canvas.setAttribute("role", "img");
  const ill = pane.broken.length;
  pane.canvas.setAttribute("aria-label", (name ? `${name} ${pane.title}: ` : "") +
    `${data.robots} robots seen from above, ${ill ? `${ill} of them with a fault` : "all healthy"}`);
  const score = made("div", own, undefined, "score");
  const words = made("div", score);
  pane.number = made("strong", words, "0.000");
  made("span", words, `${data.judged} ${pane.mean}`, "mean");
  made("span", words, pane.note || "\u00a0");
  pane.curve = made("canvas", score, undefined, "curve");
  pane.curve.setAttribute("aria-hidden", "true");
}

function buildColumn(column) {
  const name = alone ? "" : column.name;
  const box = made(alone ? "div" : "section", $("columns"), undefined, "column");
  if (name) {
    const heading = made("div", box, undefined, "heading");
    made("h2", heading, name);
    made("span", heading, column.mean);
  }
  for (const pane of column.panes) build(pane, box, name);
  const caption = made("div", box, undefined, "caption");
  for (const words of column.caption) made("p", caption, words);
}

const alone = data.columns.length === 1;
document.body.classList.toggle("alone", alone);
document.body.style.setProperty("--across", data.columns.length);
try {
  for (const column of data.columns) {
    column.before = scores(await unpacked(column.before, Int16Array));
    column.panes = await Promise.all(column.panes.map(opened));
    for (const pane of column.panes) pane.before = column.before;
  }
} catch (error) {
  $("last").textContent = `This browser cannot open the replay (${error}). A newer one can.`;
  document.body.dataset.state = "failed";
  return;
}
data.columns.forEach(buildColumn);
const panes = data.columns.flatMap((column) => column.panes);
if (patrol) panes.forEach((pane) => { pane.shades = shades(pane); });
let metre = legend();
$("last").textContent = "Large numbers and curves: the trial that is shown, so far; grey: the " +
  `same swarm before the fault. Changes and distances: over ${data.judged}.`;

function draw(cycle) {
  panes.forEach((pane) => {
    drawArena(pane, cycle);
    drawScore(pane, cycle);
  });
  metre.style.width = `${(panes[0].canvas.clientWidth - 2 * WALL) / data.arena}px`;
}
