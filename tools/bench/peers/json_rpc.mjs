/**
 * What the peers on Node.js have in common with the bridge: JSON-RPC lines on
 * standard input and output, the same line for the same event, and waiting when
 * nobody reads.
 */
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";

process.stdout.setMaxListeners(0);

/** Serves the methods of interface 4.2 with the two functions given. */
// deno-lint-ignore explicit-module-boundary-types -- JavaScript has no types
export function serve({ newSession, prompt }) {
  const call = async (method, params) => {
    if (method === "session/new") return { sessionId: await newSession() };
    if (method === "session/prompt") {
      await prompt(params.sessionId, params.prompt[0].text);
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
// deno-lint-ignore explicit-module-boundary-types -- JavaScript has no types
export function write(text) {
  return process.stdout.write(text) ? undefined : once(process.stdout, "drain");
}

/** The notification for an event of a stream. */
// deno-lint-ignore explicit-module-boundary-types -- JavaScript has no types
export function toLine(sessionId, event) {
  const update = event.event === "progress"
    ? {
      sessionUpdate: "agent_thought_chunk",
      content: { type: "text", text: `${event.node}: ${event.status}\n` },
      _meta: { node: event.node, status: event.status },
    }
    : {
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text: event.instructorState.explanation },
    };
  const params = { sessionId, update };
  const message = { jsonrpc: "2.0", method: "session/update", params };
  return JSON.stringify(message) + "\n";
}
