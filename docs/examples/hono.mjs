/** A service on Hono. Your agent is in `runs.mjs`. */
import { serve } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import { createThread, follow, start, threads } from "./runs.mjs";

const app = new Hono();

app.use(async (context, next) => {
  const key = context.req.header("X-API-Key");
  if (key && key === process.env.SERVICE_KEY) return await next();
  return context.json({ message: "Unknown key" }, 401);
});

app.post("/threads", (context) => {
  const thread_id = createThread();
  return context.json({ thread_id }, 201);
});

app.post("/threads/:thread/runs", async (context) => {
  const threadId = context.req.param("thread");
  const thread = threads.get(threadId);
  if (!thread) return context.json({ message: "No such thread" }, 404);
  const body = await context.req.json().catch(() => null);
  if (typeof body?.prompt !== "string") {
    return context.json({ message: "No prompt" }, 400);
  }
  const run_id = start(thread, body.prompt);
  return context.json({ run_id }, 201);
});

app.get("/threads/:thread/runs/:run/stream", ({ env, json, req }) => {
  const run = threads.get(req.param("thread"))?.runs.get(req.param("run"));
  if (!run) return json({ message: "No such run" }, 404);
  follow(run, req.header("Last-Event-ID"), env.outgoing);
  return RESPONSE_ALREADY_SENT;
});

serve({ fetch: app.fetch, port: process.env.PORT, hostname: "127.0.0.1" });
