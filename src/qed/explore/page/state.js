// What is seen: one object, from which the link, the request, the film and the Python all come.
export const beginning = {
  archive: 0, cells: null, environment: null, task: null, seed: 1, start: "drawn", seconds: null,
  events: [], beside: null, way: "", time: 0, speed: 10, trails: false, sensors: false,
  badges: true, robot: -1, told: [], without: "",
};
const SAFE = /[^A-Za-z0-9._,:;*-]/g;

// What the server simulates of it.
export function asked(state, cells = state.cells) {
  const { archive, environment, task, seed, start, seconds, events, without } = state;
  const home = cells === state.cells || !cells ? null : state.cells[0]; // where a recovery is shown
  const wanted = { archive, cells, home, environment, task, seed, start, seconds, events, without };
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== null));
}

// Faults as a link has them: PMIN,NONE*9.
function short(names) {
  const runs = [];
  for (const name of names)
    if (runs.length && runs.at(-1)[0] === name) runs.at(-1)[1]++;
    else runs.push([name, 1]);
  return runs.map(([name, count]) => (count > 1 ? `${name}*${count}` : name)).join(",");
}

const long = (text) => text.split(",").flatMap((part) => {
  const [name, count] = part.split("*");
  return Array(Math.min(Math.max(Number(count) || 1, 1), 64)).fill(name);
});

export function toLink(state) {
  const parts = {};
  for (const [name, value] of Object.entries(state)) {
    if (value === null || value === beginning[name] || (name === "time" && !value)) continue;
    if (name === "events") {
      if (value.length) parts.events = value.map(([t, f]) => `${t}:${short(f)}`).join(";");
    } else if (name === "environment") {
      parts.environment = Object.entries(value).map(([k, v]) => `${k}:${v}`).join(",");
    } else if (name === "told") {
      if (value.length) parts.told = value.map((one) => one.join(":")).join(";");
    } else if (Array.isArray(value)) parts[name] = value.join(",");
    else parts[name] = typeof value === "number" ? Number(value.toFixed(3)) : value;
  }
  return Object.entries(parts)
    .map(([name, value]) => `${name}=${String(value).replace(SAFE, encodeURIComponent)}`).join("&");
}

// What is shown, apart from how it is looked at: what can be undone.
export const entryOf = (state) => toLink({ ...state, time: 0, speed: 10, trails: false, sensors: false,
  badges: true, robot: -1, without: "" });

export function fromLink(text) {
  const state = structuredClone(beginning);
  for (const part of text.replace(/^#/, "").split("&")) {
    const [name, raw] = part.split("=");
    if (!(name in beginning) || raw === undefined) continue;
    let value;
    try { value = decodeURIComponent(raw); } catch { continue; } // cut off somewhere
    if (name === "events") {
      state.events = value.split(";").map((event) => {
        const [time, names] = event.split(":");
        return [Number(time), long(names || "")];
      });
    } else if (name === "environment") {
      const pairs = value.split(",").map((pair) => pair.split(":"));
      state.environment = Object.fromEntries(pairs.map(([k, v]) => [k, Number(v)]));
    } else if (name === "told") {
      state.told = value.split(";").map((one) => one.split(":").map(Number));
    } else if (name === "cells" || name === "beside") {
      state[name] = value.split(",").map(Number);
    } else if (typeof beginning[name] === "boolean") state[name] = value === "true";
    else if (["task", "start", "way", "without"].includes(name)) state[name] = value;
    else state[name] = Number(value);
  }
  return state;
}
