// The page around a replay: panes, legend, controls, and time going by.
function made(kind, parent, text, name) {
  const node = parent.appendChild(document.createElement(kind));
  if (text !== undefined) node.textContent = text;
  if (name) node.className = name;
  return node;
}

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

function legend() {
  const entry = (name, style, words, text) => {
    const item = made("li", $("legend"));
    const sign = made("span", item, text ?? "", name);
    Object.assign(sign.style, style);
    sign.setAttribute("aria-hidden", "true");
    made("span", item, words);
    return sign;
  };
  $("legend").replaceChildren();
  if (data.someHealthy) entry("swatch", { background: look.healthy }, "healthy robot");
  for (const [name, sign] of Object.entries(look.signs))
    if (name !== "NONE" && data.faults.includes(name))
      entry("badge", { background: sign.colour }, sign.words, sign.badge);
  if (data.someTeam) entry("letter", { background: look.healthy }, look.teamWords, "A");
  if (patrol) entry("swatch", { background: look.freshness.at(-1) }, look.markWords);
  else if (data.task === "aggregation") entry("centre", {}, look.markWords);
  else if (look.markWords) entry("line", {}, look.markWords);
  return entry("metre", {}, "1 m");
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
const length = data.cycles * data.cycle;
const STEP = 5; // s of an arrow key
let now = 0, playing = false, before = 0;

for (const speed of [...new Set([1, 2, 5, 10, 20, 50, 100, data.speed])].sort((a, b) => a - b)) {
  const option = made("option", $("speed"), `${speed}×`);
  option.value = speed;
  option.selected = speed === data.speed;
}
$("time").max = length;
$("time").step = data.cycle;
$("trails").checked = data.trails;
$("sensors").checked = data.sensors;

function show() {
  if (dark !== darkness.matches) {
    themed();
    metre = legend();
  }
  const cycle = Math.min(now / data.cycle, data.cycles);
  panes.forEach((pane) => {
    drawArena(pane, Math.round(cycle * 1e6) / 1e6);
    drawScore(pane, Math.round(cycle * 1e6) / 1e6);
  });
  metre.style.width = `${(panes[0].canvas.clientWidth - 2 * WALL) / data.arena}px`;
  $("time").value = now;
  const words = `${Math.round(now)} s of ${Math.round(length)} s`;
  $("time").setAttribute("aria-valuetext", words);
  $("clock").textContent = words;
}

function play(wanted) {
  if (wanted && now >= length) now = 0;
  playing = wanted;
  $("play").textContent = playing ? "Pause" : now >= length ? "Play again" : "Play";
  document.body.dataset.state = playing ? "playing" : "paused";
  if (playing) {
    before = performance.now();
    requestAnimationFrame(tick);
  }
}

function tick(stamp) {
  if (!playing) return;
  // A hidden page gets no frames; it goes on where it was.
  const passed = Math.min(Math.max(stamp - before, 0), 200) / 1000;
  before = stamp;
  now = Math.min(now + passed * Number($("speed").value), length);
  show();
  if (now >= length) play(false);
  else requestAnimationFrame(tick);
}

$("play").addEventListener("click", () => play(!playing));
$("time").addEventListener("input", () => { now = Number($("time").value); play(false); show(); });
for (const id of ["trails", "sensors", "badges"]) $(id).addEventListener("change", show);
document.addEventListener("keydown", (event) => {
  const own = event.target.closest("button, select, input"); // they use keys themselves
  const step = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  if (event.key === " " && !(own && own.id !== "time")) play(!playing);
  else if (step && !own) {
    now = Math.min(Math.max(now + step, 0), length);
    play(false);
    show();
  } else return;
  event.preventDefault();
});
darkness.addEventListener("change", show);
new ResizeObserver(show).observe($("columns"));
show();
play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
