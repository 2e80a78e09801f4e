// What all pages share: legend, controls, and time going by; draw(cycle) is the page's own.
function made(kind, parent, text, name) {
  const node = parent.appendChild(document.createElement(kind));
  if (text !== undefined) node.textContent = text;
  if (name) node.className = name;
  return node;
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

const length = data.cycles * data.cycle;
const STEP = data.gaits ? 50 : 5; // s of an arrow key
let now = 0, playing = false, before = 0;
// A long film goes slowly where something begins, and in time-lapse between.
function gaitAt(time) {
  return data.gaits.find((gait) => time < gait.end - 1e-9) ?? data.gaits.at(-1);
}

if (data.gaits?.length > 1) made("option", $("speed"), "as in a film").value = "film";
for (const speed of [...new Set([1, 2, 5, 10, 20, 50, 100, data.speed])].sort((a, b) => a - b)) {
  const option = made("option", $("speed"), `${speed}×`);
  option.value = speed;
  option.selected = speed === data.speed && $("speed").options[0].value !== "film";
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
  draw(Math.round(cycle * 1e6) / 1e6);
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
  const gait = $("speed").value === "film" && gaitAt(now);
  now = gait ? Math.min(now + passed * gait.speed, gait.end)
    : Math.min(now + passed * Number($("speed").value), length);
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
