// The page around a replay: panes, legend, controls, and time going by.
function made(kind, parent, text, name) {
  const node = parent.appendChild(document.createElement(kind));
  if (text !== undefined) node.textContent = text;
  if (name) node.className = name;
  return node;
}

function build(pane, number) {
  const box = made("section", $("panes"), undefined, "pane");
  made("h2", box, data.titles[number]);
  pane.canvas = made("canvas", box, undefined, "arena");
  pane.canvas.setAttribute("role", "img");
  const ill = pane.broken.length;
  pane.canvas.setAttribute("aria-label",
    `${data.robots} robots seen from above, ${ill ? `${ill} of them with a fault` : "all sound"}`);
  const score = made("div", box, undefined, "score");
  const words = made("div", score);
  pane.number = made("strong", words, "0.000");
  pane.number.style.color = look.scores[number];
  made("span", words, `all trials ${pane.mean}`);
  pane.curve = made("canvas", score, undefined, "curve");
  pane.curve.setAttribute("aria-hidden", "true");
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
  entry("swatch", { background: look.signs.NONE.colour }, "sound robot");
  for (const [name, sign] of Object.entries(look.signs))
    if (name !== "NONE" && panes[1].faults.includes(name))
      entry("badge", { background: sign.colour }, sign.words, sign.badge);
  if (patrol) entry("swatch", { background: look.freshness.at(-1) }, look.markWords);
  else if (data.task === "aggregation") entry("centre", {}, look.markWords);
  else entry("line", {}, look.markWords);
  return entry("metre", {}, "1 m");
}

let panes;
try {
  panes = await Promise.all(data.panes.map(opened));
} catch (error) {
  $("last").textContent = `This browser cannot open the replay (${error}). A newer one can.`;
  document.body.dataset.state = "failed";
  return;
}
panes.forEach(build);
if (patrol) panes.forEach((pane) => { pane.shades = shades(pane); });
const metre = legend();
$("last").textContent = data.outcome;
const length = data.cycles * data.cycle;
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
  const cycle = Math.min(now / data.cycle, data.cycles);
  panes.forEach((pane, number) => {
    drawArena(pane, Math.round(cycle * 1e6) / 1e6);
    drawScore(pane, number, Math.round(cycle * 1e6) / 1e6);
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
  const own = event.target.closest("button, select, input[type=checkbox]"); // they use it too
  if (event.key !== " " || own || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  play(!playing);
});
new ResizeObserver(show).observe($("panes"));
show();
play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
