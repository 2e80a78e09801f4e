// What all pages share: legend, controls, and time going by; draw(cycle) is the page's own.
function made(kind, parent, text, name) {
  const node = parent.appendChild(document.createElement(kind));
  if (text !== undefined) node.textContent = text;
  if (name) node.className = name;
  return node;
}

function failed(error) {
  $("last").textContent = `This browser cannot open the replay (${error}). A newer one can.`;
  document.body.dataset.state = "failed";
}

// What a pane shows, for those who do not see it.
function describe(pane, name = "") {
  const { length } = pane.broken, many = length ? `${length} of them with a fault` : "all healthy";
  const words = `${name}${data.robots} robots seen from above, ${many}`;
  if (pane.described !== words) pane.canvas.setAttribute("aria-label", pane.described = words);
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
  for (const [sign, words] of data.legend)
    if (sign === "robot") entry("swatch", { background: look.healthy }, words);
    else if (sign === "letter") entry("letter", { background: look.healthy }, words, "A");
    else if (sign !== "task")
      entry("badge", { background: look.signs[sign].colour }, words, look.signs[sign].badge);
    else if (patrol) entry("swatch", { background: look.freshness.at(-1) }, words);
    else entry(data.task === "aggregation" ? "centre" : "line", {}, words);
  return entry("metre", {}, "1 m");
}

const length = data.cycles * data.cycle;
const STEP = data.sections ? 50 : 5; // s of an arrow key
// A long film goes slowly where something begins, and in time-lapse between.
function sectionAt(time) {
  return data.sections.find((section) => time < section.end - 1e-9) ?? data.sections.at(-1);
}

if (data.sections?.length > 1) made("option", $("speed"), "as in a film").value = "film";
for (const speed of [...new Set([1, 2, 5, 10, 20, 50, 100, data.speed])].sort((a, b) => a - b)) {
  const option = made("option", $("speed"), `${speed}×`);
  option.value = speed;
  option.selected = speed === data.speed && $("speed").options[0].value !== "film";
}
$("time").max = length;
$("time").step = data.cycle;
$("trails").checked = data.trails;
$("sensors").checked = data.sensors;

const clock = new Clock({
  length: () => length,
  later: (now, passed) => {
    const section = $("speed").value === "film" && sectionAt(now);
    return section ? Math.min(now + passed * section.speed, section.end)
      : now + passed * Number($("speed").value);
  },
  drawn: show,
  switched: () => {
    $("play").textContent = clock.playing ? "Pause" : clock.ended ? "Play again" : "Play";
  },
});

function show() {
  if (dark !== darkness.matches) {
    themed();
    metre = legend();
  }
  const cycle = Math.min(clock.now / data.cycle, data.cycles);
  draw(Math.round(cycle * 1e6) / 1e6);
  $("time").value = clock.now;
  const words = `${Math.round(clock.now)} s of ${Math.round(length)} s`;
  $("time").setAttribute("aria-valuetext", words);
  $("clock").textContent = words;
}

$("play").addEventListener("click", () => clock.play(!clock.playing));
$("time").addEventListener("input", () => { clock.play(false); clock.go(Number($("time").value)); });
for (const id of ["trails", "sensors", "badges"]) $(id).addEventListener("change", show);
document.addEventListener("keydown", (event) => {
  const control = event.target.closest("button, select, input"); // they use keys themselves
  const step = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  if (event.key === " " && !(control && control.id !== "time")) clock.play(!clock.playing);
  else if (step && !control) {
    clock.play(false);
    clock.go(clock.now + step);
  } else return;
  event.preventDefault();
});
darkness.addEventListener("change", show);
new ResizeObserver(show).observe($("columns"));
show();
clock.play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
