/**
 * The bridge's work on Node.js, with a library that follows the streams: JSON-RPC
 * lines on standard input and output, the same line for the same event, and waiting
 * when nobody reads. With a text, it runs that one prompt and prints the reply.
 *
 *     node node_bridge.mjs (langgraph | eventsource_parser) [TEXT]
 */
import { once } from "node:events";
import process from "node:process";

const url = process.env.APP_BASE_URL;
const apiKey = process.env.APP_API_KEY;

// The packages are imported dynamically: Deno's check of this folder has none of
// them, and no peer loads another one's.
const PEERS = {
  /** LangGraph's client on the same three paths. */
  async langgraph() {
    const { Client } = await import("@langchain/langgraph-sdk");
    const { threads, runs } = new Client({ apiUrl: url, apiKey });
    return {
      async newSession() {
        return (await threads.create()).thread_id;
      },
      async prompt(threadId, prompt, toLine) {
        const input = { prompt };
        const run = await runs.create(threadId, "the-brain", { input });
        for await (const { data } of runs.joinStream(threadId, run.run_id)) {
          const full = write(toLine(data));
          if (full) await full;
        }
      },
    };
  },

  /** eventsource-parser as its documentation shows it for `fetch`. */
  async eventsource_parser() {
    const { EventSourceParserStream } = await import(
      "eventsource-parser/stream"
    );
    const headers = { "x-api-key": apiKey };
    const post = async (path, body) => {
      const response = await fetch(url + path, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body,
      });
      return await response.json();
    };
    return {
      async newSession() {
        return (await post("/threads")).thread_id;
      },
      async prompt(threadId, prompt, toLine) {
        const runs = `/threads/${threadId}/runs`;
        const body = { agentName: "the-brain", prompt, wait: false };
        const { run_id } = await post(runs, JSON.stringify(body));
        const response = await fetch(`${url}${runs}/${run_id}/stream`, {
          headers: { ...headers, accept: "text/event-stream" },
        });
        const events = response.body
          .pipeThrough(new TextDecoderStream())
          .pipeThrough(new EventSourceParserStream());
        for await (const { data } of events) {
          const full = write(toLine(JSON.parse(data)));
          if (full) await full;
        }
      },
    };
  },
};

const [, , name, text] = process.argv;
const peer = await PEERS[name]();
if (text === undefined) {
  process.stdout.setMaxListeners(0);
  await serve(peer);
} else {
  await peer.prompt(await peer.newSession(), text, replyOf);
}

/**
 * Serves the methods of interface 4.2 with the two functions given. `prompt` gets
 * the session, the text, and a function that makes the line of an event.
 */
async function serve({ newSession, prompt }) {
  const { createInterface } = await import("node:readline"); // A single prompt needs none.
  const call = async (method, params) => {
    if (method === "session/new") return { sessionId: await newSession() };
    if (method === "session/prompt") {
      const { sessionId } = params;
      const toLine = lineMaker(sessionId);
      await prompt(sessionId, params.prompt[0].text, toLine);
      return { stopReason: "end_turn" };
    }
    return {};
  };
  createInterface({ input: process.stdin }).on("line", async (line) => {
    const { id, method, params } = JSON.parse(line);
    const result = await call(method, params);
    await write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\n");
  });
}

/** Writes, and returns a promise if the next one has to wait for room. */
function write(text) {
  return process.stdout.write(text) ? undefined : once(process.stdout, "drain");
}

/** The reply in the last event of a stream, with its line end; empty for all others. */
function replyOf({ event, instructorState }) {
  return event === "complete" ? `${instructorState.explanation}\n` : "";
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
