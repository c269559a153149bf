/**
 * The threads and runs of a service in Node.js, and your agent: call it in `think()`.
 * `service.mjs`, `express.mjs`, `hono.mjs` and `nest.mjs` answer the requests with it.
 */
import { randomUUID } from "node:crypto";

const KEPT = 10 * 60_000; // how long the events of a run are kept after its end
const MAX_THREADS = 10_000; // after that, the oldest thread is forgotten
const MAX_MESSAGES = 100; // of a thread

export const threads = new Map(); // by their ids

// Your agent. It gets the messages of the thread, of which the last one is the new
// prompt. It yields its progress and then the reply, or throws.
async function* think(messages, threadId) {
  const prompts = messages.filter(({ role }) => role === "user")
    .map(({ content }) => content);
  for (const word of prompts.at(-1).split(" ")) {
    yield { event: "progress", node: "read", status: word };
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const explanation = `You said: ${prompts.join(", ")}`;
  yield { event: "complete", instructorState: { explanation } };
}

export function createThread() {
  const id = randomUUID();
  threads.set(id, { id, messages: [], runs: new Map() });
  const [oldest] = threads.keys();
  if (threads.size > MAX_THREADS) threads.delete(oldest);
  return id;
}

function remember({ messages }, role, content) {
  messages.push({ role, content });
  if (messages.length > MAX_MESSAGES) messages.shift();
}

// Runs the agent in the background, whoever is connected.
async function execute(run, thread) {
  const send = (event) => {
    const id = run.events.length + 1;
    run.events.push(`id: ${id}\ndata: ${JSON.stringify(event)}\n\n`);
    run.streams.forEach((stream) => stream.write(run.events.at(-1)));
  };
  try {
    for await (const event of think(thread.messages, thread.id)) {
      const reply = event.instructorState?.explanation;
      if (reply) remember(thread, "assistant", reply);
      send(event);
    }
  } catch (error) {
    send({ event: "error", message: error.message });
  }
  run.isOver = true;
  run.streams.forEach((stream) => stream.end());
}

export function start(thread, prompt) {
  const id = randomUUID();
  const run = { events: [], streams: new Set(), isOver: false };
  thread.runs.set(id, run);
  remember(thread, "user", prompt);
  const forget = () => setTimeout(() => thread.runs.delete(id), KEPT);
  execute(run, thread).then(forget);
  return id;
}

// The number of events that a client has. An id that is not known counts as none.
function positionOf(lastEventId, events) {
  const position = /^\d+$/.test(lastEventId) ? Number(lastEventId) : 0;
  return position <= events.length ? position : 0;
}

export function follow({ events, streams, isOver }, lastEventId, response) {
  const position = positionOf(lastEventId, events);
  if (isOver && position === events.length) {
    return response.writeHead(204).end(); // There is nothing more.
  }
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "x-accel-buffering": "no",
  });
  response.flushHeaders();
  response.write(events.slice(position).join(""));
  if (isOver) return response.end();
  streams.add(response);
  const comments = setInterval(() => response.write(": working\n\n"), 15_000);
  response.on("close", () => {
    clearInterval(comments);
    streams.delete(response);
  });
}
