/** A service on Express. Your agent is in `runs.mjs`. */
import express from "express";
import { createThread, follow, start, threads } from "./runs.mjs";

const app = express();

app.use((request, response, next) => {
  const key = request.get("X-API-Key");
  if (key && key === process.env.SERVICE_KEY) return next();
  response.status(401).json({ message: "Unknown key" });
});

app.post("/threads", (_request, response) => {
  const thread_id = createThread();
  response.status(201).json({ thread_id });
});

app.post("/threads/:thread/runs", express.json(), (request, response) => {
  const thread = threads.get(request.params.thread);
  if (!thread) return response.status(404).json({ message: "No such thread" });
  const { prompt } = request.body ?? {};
  if (typeof prompt !== "string") {
    return response.status(400).json({ message: "No prompt" });
  }
  const run_id = start(thread, prompt);
  response.status(201).json({ run_id });
});

app.get("/threads/:thread/runs/:run/stream", (request, response) => {
  const run = threads.get(request.params.thread)?.runs.get(request.params.run);
  if (!run) return response.status(404).json({ message: "No such run" });
  follow(run, request.get("Last-Event-ID"), response);
});

app.use((error, _request, response, _next) => {
  response.status(error.status ?? 500).json({ message: error.message });
});

app.listen(process.env.PORT, "127.0.0.1");
