// Small things that the page is made of.
export const $ = (id) => document.getElementById(id);

// Set the text of a node, if it is something new: a page that changes has to be laid out again.
const last = new Map();
export function write(id, text) {
  if (last.get(id) === text) return;
  last.set(id, text);
  $(id).textContent = text;
}

// A moment for the browser's own measurements; the last of its name counts.
export function noted(name) {
  performance.clearMarks(name);
  performance.mark(name);
}

export function made(kind, text, name) {
  const node = document.createElement(kind);
  if (text !== undefined) node.textContent = text;
  if (name) node.className = name;
  return node;
}

export function fill(select, options) {
  select.replaceChildren(...options.map(([value, text, title]) => {
    const option = made("option", text);
    option.value = value;
    if (title) option.title = title;
    return option;
  }));
}

// What drives a swarm, in words.
export const called = (cells) => (cells.length === 1 ? `cell ${cells[0]}` : "a team");
