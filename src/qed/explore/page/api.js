// How the page asks its server: tables, bytes, and streams of lines that can be stopped.
const page = Array.from(crypto.getRandomValues(new Uint8Array(8)),
  (byte) => byte.toString(16).padStart(2, "0")).join("");

async function answered(response) {
  if (response.ok) return response;
  let words = `the server answered ${response.status}`;
  try { words = (await response.json()).words || words; } catch { /* not ours */ }
  throw new Error(words);
}

// A request that gets no answer at all: the server has ended.
const unanswered = (error) => {
  if (error.name === "AbortError") throw error;
  throw new Error("The server does not answer: is qed explore still running?");
};

const post = (address, table, signal) => fetch(`api/${address}`, {
  method: "POST",
  headers: { "Content-Type": "application/json", "X-Page": page },
  body: JSON.stringify(table),
  signal,
}).then(answered, unanswered);

export const get = async (address) =>
  (await fetch(`api/${address}`).then(answered, unanswered)).json();
export const table = async (address, given) => (await post(address, given)).json();
export const bytes = async (address, given) => (await post(address, given)).arrayBuffer();

// Call ``each`` with every line of a stream; it ends when the stream does, or at the signal.
export async function stream(address, given, each, signal) {
  const response = await post(address, given, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line) continue;
      const event = JSON.parse(line);
      if (event.kind === "error") throw new Error(event.words);
      await each(event);
    }
  }
}
