// One swarm that goes on: its arena, what goes on, the scores, and what the search believes.
const story = {};
try {
  story.pane = await opened(data.pane);
} catch (error) {
  failed(error);
  return;
}
const pane = story.pane;
document.body.classList.add("story");
if (!data.sensed) $("sensors").closest("label").hidden = true;

story.box = made("div", $("columns"), undefined, "story-box");
story.left = made("section", story.box, undefined, "pane");
pane.canvas = made("canvas", story.left, undefined, "arena");
pane.canvas.setAttribute("role", "img");
story.right = made("section", story.box, undefined, "chapter");
story.heading = made("h2", story.right);
story.speed = made("p", story.right, undefined, "speed");
story.score = made("p", story.right, undefined, "score");
story.number = made("strong", story.score);
story.gone = made("span", story.score, undefined, "mean");
story.words = made("p", story.right, undefined, "words");
made("h3", story.right, "Score of each period so far");
story.scores = made("canvas", story.right, undefined, "chart");
story.key = made("h3", story.right, "Believed fitness (90 %): ");
story.best = made("span", story.key, "best", "key");
made("span", story.key, " ");
story.kept = made("span", story.key, "if kept", "key");
story.beliefs = made("canvas", story.right, undefined, "chart");
for (const chart of [story.scores, story.beliefs]) chart.setAttribute("aria-hidden", "true");
let metre = legend();
$("last").textContent = "One world, no reset between the periods. What the search tries, it " +
  `tries on the robots where they are; ${data.knows}`;

const shadeOf = (moment) =>
  ({ normal: look.scores[0], fault: look.scores[1], after: look.scores[2] })[moment] ?? look.ink;
const chapterAt = (time) =>
  data.chapters.find((one) => time < one.end - 1e-9) ?? data.chapters.at(-1);

// A chart over the whole time: its pen, and where times and numbers are.
function chart(canvas, low, high) {
  const { pen, width, height } = sharp(canvas);
  const box = { left: 40, right: width - 1, top: 1, bottom: height - (canvas === story.scores ? 22 : 2) };
  const x = (time) => box.left + ((box.right - 6 - box.left) * time) / (data.cycles * data.cycle);
  const part = (value) => Math.min(Math.max((value - low) / (high - low), 0), 1);
  const y = (value) => box.bottom - (box.bottom - box.top) * part(value);
  pen.fillStyle = look.floor;
  pen.fillRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  pen.font = '13px system-ui, "DejaVu Sans", sans-serif';
  const stroke = (points, colour, thick) => {
    path(pen, points);
    pen.strokeStyle = colour;
    pen.lineWidth = thick;
    pen.stroke();
  };
  const step = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 1e-4]
    .find((one) => (high - low) / one >= 2);
  pen.textAlign = "right";
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high; k++) {
    stroke([[box.left, y(k * step)], [box.right, y(k * step)]], look.line + "55", 1);
    pen.fillStyle = look.ink;
    pen.textBaseline = "middle";
    const at = Math.min(Math.max(y(k * step), 8), box.bottom - 6);
    pen.fillText(String(Number((k * step).toFixed(4))), box.left - 5, at);
  }
  for (const one of data.chapters.slice(1)) {
    const struck = one.moment === "fault";
    const ends = [[x(one.begin), box.top], [x(one.begin), box.bottom]];
    stroke(ends, struck ? look.scores[1] : look.line + "99", struck ? 2 : 1);
  }
  stroke([[box.left, box.top], [box.right, box.top], [box.right, box.bottom],
    [box.left, box.bottom], [box.left, box.top]], look.line, 1);
  return { pen, x, y, box, stroke };
}

function drawScores(time) {
  const { pen, x, y, box, stroke } = chart(story.scores, 0, 1.08 * data.topScore);
  for (const one of data.chapters) {
    if (one.begin >= time) break;
    const first = Math.round(one.begin / data.cycle);
    const last = Math.floor(Math.min(one.end, time) / data.cycle + 1e-6);
    const step = Math.max(1, Math.floor((one.end - one.begin) / data.cycle / 60));
    const points = [];
    for (let row = first + 1; row < last; row += step)
      points.push([x(row * data.cycle), y(pane.score(row))]);
    if (last > first) points.push([x(last * data.cycle), y(pane.score(last))]);
    if (!points.length) continue;
    stroke(points, shadeOf(one.moment), 2);
    if (one.end > time + 1e-9) continue;
    pen.beginPath();
    pen.arc(...points.at(-1), 4, 0, 2 * Math.PI);
    pen.fillStyle = shadeOf(one.moment);
    pen.fill();
  }
  // What matters most is named first; the others as far as there is room.
  const order = ["fault", "after", "trial", "normal"], taken = [];
  pen.textAlign = "center";
  pen.textBaseline = "bottom";
  for (const moment of order)
    for (const one of data.chapters.filter((each) => each.moment === moment)) {
      const half = pen.measureText(one.mark).width / 2;
      const middle = Math.min(Math.max(x((one.begin + one.end) / 2), box.left + half), box.right - half);
      if (taken.some(([from, to]) => middle + half + 3 >= from && to + 3 >= middle - half)) continue;
      taken.push([middle - half, middle + half]);
      pen.fillStyle = shadeOf(moment);
      pen.fillText(one.mark, middle, box.bottom + 20);
    }
  stroke([[x(time), box.top], [x(time), box.bottom]], look.ink + "80", 1);
}

function drawBeliefs(time) {
  const { pen, x, y, box, stroke } = chart(story.beliefs, ...data.believed);
  data.chapters.forEach((one, k) => {
    if (one.moment === "normal" || one.moment === "after" || one.end >= time) return;
    const left = x(one.end), right = x(Math.min(time, data.chapters[k + 1].end));
    const bands = [[one.kept, look.scores[1]], [one.best, look.scores[2]]];
    for (const [[low, mean, high], colour] of bands.slice(0, one.same ? 1 : 2)) {
      pen.fillStyle = colour + "40";
      pen.fillRect(left, y(high), right - left, y(low) - y(high));
      stroke([[left, y(mean)], [right, y(mean)]], colour, 2.5);
    }
  });
  stroke([[x(time), box.top], [x(time), box.bottom]], look.ink + "80", 1);
}

function draw(cycle) {
  const time = cycle * data.cycle, chapter = chapterAt(time), section = sectionAt(time);
  const film = $("speed").value === "film", speed = film ? section.speed : Number($("speed").value);
  const lapse = film ? section.lapse : speed > 20;
  // In time-lapse only trails show where robots went.
  drawArena(pane, cycle, $("trails").checked || lapse);
  describe(pane);
  const shade = shadeOf(chapter.moment);
  if (story.heading.textContent !== chapter.title) story.heading.textContent = chapter.title;
  story.heading.style.color = shade;
  story.number.style.color = shade;
  story.number.textContent = pane.score(Math.min(Math.floor(cycle), data.cycles)).toFixed(3);
  story.gone.textContent = "score in this period, " +
    `${Math.round(time - chapter.begin)} s of ${Math.round(chapter.end - chapter.begin)} s`;
  story.words.textContent = chapter.words + (chapter.moment === "after" ? ` ${data.ending}` : "");
  story.speed.textContent = `${speed}× real time${lapse ? ": time-lapse" : ""}`;
  story.best.style.borderColor = look.scores[2];
  story.kept.style.borderColor = look.scores[1];
  drawScores(time);
  drawBeliefs(time);
  metre.style.width = `${(pane.canvas.clientWidth - 2 * WALL) / data.arena}px`;
}
