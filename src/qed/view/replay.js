// The panes of a replay.
function build(pane, box, name) {
  const section = made("section", box, undefined, "pane");
  made(name ? "h3" : "h2", section, pane.title);
  pane.canvas = made("canvas", section, undefined, "arena");
  pane.canvas.setAttribute("role", "img");
  const score = made("div", section, undefined, "score");
  const words = made("div", score);
  pane.number = made("strong", words, "0.000");
  pane.notes.forEach((note, k) => made("span", words, note || "\u00a0", k ? "" : "mean"));
  pane.curve = made("canvas", score, undefined, "curve");
  pane.curve.setAttribute("aria-hidden", "true");
  pane.name = name ? `${name} ${pane.title}: ` : "";
}

function buildColumn(column) {
  const name = alone ? "" : column.name;
  const box = made(alone ? "div" : "section", $("columns"), undefined, "column");
  if (name) {
    const heading = made("div", box, undefined, "heading");
    made("h2", heading, name);
    made("span", heading, column.aside);
  }
  for (const pane of column.panes) build(pane, box, name);
  const caption = made("div", box, undefined, "caption");
  for (const words of column.caption) made("p", caption, words);
}

const alone = data.columns.length === 1;
document.body.classList.toggle("alone", alone);
document.body.style.setProperty("--across", data.columns.length);
document.body.style.setProperty("--views", data.columns[0].panes.length);
try {
  for (const column of data.columns) {
    const before = scores(await unpacked(column.before, Int16Array));
    column.panes = await Promise.all(column.panes.map(opened));
    for (const pane of column.panes) pane.before = pane.compared && before;
  }
} catch (error) {
  failed(error);
  return;
}
data.columns.forEach(buildColumn);
const panes = data.columns.flatMap((column) => column.panes);
let metre = legend();
$("last").textContent = data.judged && "Large numbers and curves: the trial that is shown, so far; " +
  `grey: the same swarm before the fault. Changes and distances: over ${data.judged}.`;

function draw(cycle) {
  panes.forEach((pane) => {
    drawArena(pane, cycle);
    drawScore(pane, cycle);
    describe(pane, pane.name);
  });
  metre.style.width = `${(panes[0].canvas.clientWidth - 2 * WALL) / data.arena}px`;
}
