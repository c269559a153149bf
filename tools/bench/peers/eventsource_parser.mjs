/**
 * The bridge's work, done by `fetch` and eventsource-parser.
 *
 *     node eventsource_parser.mjs [--tuned] [--3]
 *
 * As its documentation shows it for `fetch`, and a write for each line; or, if
 * tuned, by its bare parser, and a write for each chunk. `--3`: by its release
 * 3.1.1, which is faster with large events.
 */
import process from "node:process";
import { serve, toLine, write } from "./json_rpc.mjs";

const parser = process.argv.includes("--3")
  ? "eventsource-parser-3"
  : "eventsource-parser";
// Dynamic, as Deno's check of this folder has no such package.
const { createParser } = await import(parser);
const { EventSourceParserStream } = await import(`${parser}/stream`);

const url = process.env.APP_BASE_URL;
const headers = { "x-api-key": process.env.APP_API_KEY };
const forward = process.argv.includes("--tuned")
  ? forwardTuned
  : forwardAsDocumented;

serve({
  async newSession() {
    return (await post("/threads")).thread_id;
  },
  async prompt(threadId, prompt) {
    const runs = `/threads/${threadId}/runs`;
    const body = { agentName: "the-brain", prompt, wait: false };
    const { run_id } = await post(runs, JSON.stringify(body));
    const response = await fetch(`${url}${runs}/${run_id}/stream`, {
      headers: { ...headers, accept: "text/event-stream" },
    });
    await forward(threadId, response.body);
  },
});

async function forwardAsDocumented(sessionId, body) {
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { data } of events) {
    const full = write(toLine(sessionId, JSON.parse(data)));
    if (full) await full;
  }
}

async function forwardTuned(sessionId, body) {
  let lines = [];
  const parser = createParser({
    onEvent: ({ data }) => lines.push(toLine(sessionId, JSON.parse(data))),
  });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    const text = lines.join("");
    lines = [];
    if (text !== "") await write(text);
  }
}

async function post(path, body) {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body,
  });
  return await response.json();
}
