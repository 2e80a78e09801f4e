// A film as a page by itself: swarms that were sent along, and time going by.
const given = JSON.parse($("data").textContent);
const all = given.swarms.map((text, k) => {
  const buffer = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  const swarm = opened(buffer), scene = sceneOf(shownData(swarm, given.look, given.themes));
  const box = $("panes").appendChild(document.createElement("figure"));
  const caption = box.appendChild(document.createElement("figcaption"));
  caption.textContent = given.swarms.length > 1 ? given.titles[k] : "";
  const canvas = box.appendChild(document.createElement("canvas"));
  canvas.className = "arena";
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${given.titles[k]}: ${swarm.robots} robots seen from above`);
  return { swarm, scene, pane: paned(swarm, canvas, scene), curve: scored(swarm) };
});
const [first] = all, length = first.swarm.cycles * first.swarm.cycle;
let now = 0, playing = false, before = 0;
for (const speed of [1, 2, 5, 10, 20, 50, 100]) {
  const option = $("speed").appendChild(document.createElement("option"));
  option.value = speed;
  option.textContent = `${speed}×`;
  option.selected = speed === 10;
}
$("time").max = length;
$("where").textContent = given.where;
const kinds = new Set(all.flatMap(({ swarm }) => swarm.events.flatMap(([, faults]) => faults)));
$("signs").textContent = [...kinds].filter((name) => name !== "NONE")
  .map((name) => `${given.look.signs[name].badge} ${given.look.signs[name].words}`).join(" · ");

function show() {
  const cycle = Math.round(Math.min(now / first.swarm.cycle, first.swarm.cycles) * 1e6) / 1e6;
  for (const { pane, scene } of all) {
    scene.themed();
    drawn(pane, scene, cycle);
  }
  const { look } = first.scene;
  drawCurve(first.scene.sharp($("curve")), all.map((one) => one.swarm), all.map((one) => one.curve), cycle, {
    line: look.line, floor: look.floor, ink: look.ink, soft: getComputedStyle($("where")).color,
    broke: look.scores[1], healed: "#009e73",
    scores: all.length > 1 ? [look.scores[1], look.scores[2]] : [look.scores[2]],
  });
  $("time").value = now;
  $("clock").textContent = `${Math.round(now)} s of ${Math.round(length)} s`;
}

function play(wanted) {
  if (wanted && now >= length) now = 0;
  playing = wanted;
  $("play").textContent = playing ? "Pause" : "Play";
  if (playing) {
    before = performance.now();
    requestAnimationFrame(tick);
  }
}

function tick(stamp) {
  if (!playing) return;
  now = Math.min(now + (Math.min(Math.max(stamp - before, 0), 200) / 1000) * Number($("speed").value), length);
  before = stamp;
  show();
  if (now >= length) play(false);
  else requestAnimationFrame(tick);
}

$("play").addEventListener("click", () => play(!playing));
$("time").addEventListener("input", () => { now = Number($("time").value); play(false); show(); });
for (const id of ["trails", "sensors", "badges"]) $(id).addEventListener("change", show);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
new ResizeObserver(show).observe($("panes"));
show();
play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
