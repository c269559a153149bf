/**
 * The bridge's work on Node.js, with a library that follows the streams: JSON-RPC
 * lines on standard input and output, the same line for the same event, and waiting
 * when nobody reads. With a text, it runs that one prompt and prints the reply, or each
 * event on a line.
 *
 *     node node_bridge.mjs (langgraph | eventsource_parser) [TEXT [--json]]
 */
import { once } from "node:events";
import process from "node:process";

const url = process.env.APP_BASE_URL;
const apiKey = process.env.APP_API_KEY;

// The packages are imported dynamically: Deno's check of this folder has none of
// them, and no peer loads another one's. `open` starts a run and returns its
// messages; `parse` turns the data of a message into an event.
const PEERS = {
  /** LangGraph's client on the same three paths. */
  async langgraph() {
    const { Client } = await import("@langchain/langgraph-sdk");
    const { threads, runs } = new Client({ apiUrl: url, apiKey });
    return {
      newSession: async () => (await threads.create()).thread_id,
      async open(threadId, prompt) {
        const input = { prompt };
        const run = await runs.create(threadId, "the-brain", { input });
        return runs.joinStream(threadId, run.run_id);
      },
      parse: (data) => data,
    };
  },

  /** eventsource-parser as its documentation shows it for `fetch`. */
  async eventsource_parser() {
    const { EventSourceParserStream } = await import(
      "eventsource-parser/stream"
    );
    const headers = { "x-api-key": apiKey, "content-type": "application/json" };
    const post = async (path, body) => {
      const options = { method: "POST", headers, body };
      return await (await fetch(url + path, options)).json();
    };
    return {
      newSession: async () => (await post("/threads")).thread_id,
      async open(threadId, prompt) {
        const runs = `/threads/${threadId}/runs`;
        const body = { agentName: "the-brain", prompt, wait: false };
        const { run_id } = await post(runs, JSON.stringify(body));
        const response = await fetch(`${url}${runs}/${run_id}/stream`, {
          headers: { ...headers, accept: "text/event-stream" },
        });
        return response.body
          .pipeThrough(new TextDecoderStream())
          .pipeThrough(new EventSourceParserStream());
      },
      parse: JSON.parse,
    };
  },
};

const [, , name, text, form] = process.argv;
const { newSession, open, parse } = await PEERS[name]();
if (text === undefined) {
  process.stdout.setMaxListeners(0);
  await serve();
} else {
  const toLine = form === "--json" ? jsonLine : replyLine;
  await run(await newSession(), text, toLine);
}

/** Only the last event has a reply. */
function replyLine({ instructorState: reply }) {
  return reply === undefined ? "" : `${reply.explanation}\n`;
}

/** The line that the client prints with `--json`. */
function jsonLine({ event, node, status, instructorState: reply }) {
  const line = event === "progress"
    ? { type: event, node, status }
    : { type: "reply", text: reply.explanation };
  return JSON.stringify(line) + "\n";
}

async function serve() {
  const { createInterface } = await import("node:readline"); // A single prompt needs none.
  const call = async (method, { sessionId, prompt }) => {
    if (method === "session/new") return { sessionId: await newSession() };
    if (method !== "session/prompt") return {};
    await run(sessionId, prompt[0].text, lineMaker(sessionId));
    return { stopReason: "end_turn" };
  };
  createInterface({ input: process.stdin }).on("line", async (line) => {
    const { id, method, params } = JSON.parse(line);
    const result = await call(method, params);
    await write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\n");
  });
}

/** Runs a prompt, and writes the line of each event. */
async function run(sessionId, prompt, toLine) {
  for await (const { data } of await open(sessionId, prompt)) {
    const full = write(toLine(parse(data)));
    if (full) await full;
  }
}

/** Writes, and returns a promise if the next one has to wait for room. */
function write(text) {
  return process.stdout.write(text) ? undefined : once(process.stdout, "drain");
}

/** Makes the notifications for the events of a stream. */
function lineMaker(sessionId) {
  const [thoughts, reply] = [crypto.randomUUID(), crypto.randomUUID()];
  return (event) => {
    const update = event.event === "progress"
      ? {
        sessionUpdate: "agent_thought_chunk",
        messageId: thoughts,
        content: { type: "text", text: `${event.node}: ${event.status}\n` },
        _meta: { node: event.node, status: event.status },
      }
      : {
        sessionUpdate: "agent_message_chunk",
        messageId: reply,
        content: { type: "text", text: event.instructorState.explanation },
      };
    const params = { sessionId, update };
    const message = { jsonrpc: "2.0", method: "session/update", params };
    return JSON.stringify(message) + "\n";
  };
}
