// Time that goes by while something plays; what was given says how long, how fast, and what follows.
export class Clock {
  // length(): s;  later(now, passed): where time is when seconds have passed;  drawn(passed): it is
  // another time;  switched(): it plays, or no longer does.
  constructor(given) {
    Object.assign(this, given, { now: 0, playing: false });
  }

  get ended() { return this.now >= this.length(); }

  play(wanted) {
    if (wanted && this.ended) this.now = 0;
    const begins = wanted && !this.playing;
    this.playing = wanted;
    document.body.dataset.state = wanted ? "playing" : "paused";
    this.switched();
    if (!begins) return;
    this.before = performance.now();
    requestAnimationFrame((stamp) => this.tick(stamp));
  }

  tick(stamp) {
    if (!this.playing) return;
    // A hidden page gets no frames; it goes on where it was.
    const passed = Math.min(Math.max(stamp - this.before, 0), 200) / 1000;
    this.before = stamp;
    this.go(this.later(this.now, passed), passed);
    if (this.ended) this.play(false);
    else requestAnimationFrame((next) => this.tick(next));
  }

  go(seconds, passed = 0) {
    this.now = Math.min(Math.max(seconds, 0), this.length());
    this.drawn(passed);
  }
}
