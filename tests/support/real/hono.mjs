/**
 * A service on Hono and its `streamSSE()`: the `id:` of an event stands after its
 * data, and an exception becomes an event of plain words. Messages consist of
 * parts, and a run without a reply ends with the answer of a tool.
 */
// @ts-ignore: It is in the folder that REAL_SERVICES names.
import { serve } from "@hono/node-server";
// @ts-ignore: It is in the folder that REAL_SERVICES names.
import { Hono } from "hono";
// @ts-ignore: It is in the folder that REAL_SERVICES names.
import { HTTPException } from "hono/http-exception";
// @ts-ignore: It is in the folder that REAL_SERVICES names.
import { streamSSE } from "hono/streaming";
import { createThread, findRun, follow, startRun } from "./agent.mjs";

const app = new Hono();

app.use(async (context, next) => {
  if (context.req.header("X-API-Key") !== process.env.SERVICE_KEY) {
    throw new HTTPException(403, { message: "Unknown key" });
  }
  await next();
});

app.post("/threads", (context) => context.json({ thread_id: createThread() }));

app.post("/threads/:thread/runs", async (context) => {
  const { prompt } = await context.req.json();
  const id = startRun(context.req.param("thread"), prompt);
  if (id === undefined) return context.json({ message: "No such thread" }, 404);
  return context.json({ run_id: id });
});

app.get("/threads/:thread/runs/:run/stream", async (context) => {
  const run = findRun(context.req.param("thread"), context.req.param("run"));
  if (!run) return context.json({ message: "No such run" }, 404);
  let id = Number(context.req.header("Last-Event-ID") ?? 0);
  const events = follow(run, id);
  const first = await events.next(); // If it throws, Hono answers with 500.
  const send = (stream, event) => {
    if (event.event === "error") throw new Error(event.message);
    const messages = event.messages?.flatMap(withParts);
    const data = JSON.stringify({ ...event, messages });
    return stream.writeSSE({ data, id: String(++id) });
  };
  return streamSSE(context, async (stream) => {
    await send(stream, first.value);
    for await (const event of events) await send(stream, event);
  }, (error) => console.error(error));
});

function withParts({ role, content }) {
  if (content !== "") {
    return [{ role, content: [{ type: "text", text: content }] }];
  }
  const call = {
    id: "call-1",
    type: "function",
    function: { name: "look_up" },
  };
  return [
    { role, content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "call-1", content: "Nothing was found" },
  ];
}

serve({
  fetch: app.fetch,
  port: Number(process.env.PORT),
  hostname: "127.0.0.1",
});
