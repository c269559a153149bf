/**
 * A service on Express and better-sse, which gives every event a new random id.
 * The messages of a completed run are those of the whole thread.
 */
// @ts-ignore: It is in the folder that REAL_SERVICES names.
import { createSession } from "better-sse";
// @ts-ignore: It is in the folder that REAL_SERVICES names.
import express from "express";
import { createThread, findRun, follow, startRun } from "./agent.mjs";

const app = express();

app.use((request, response, next) => {
  if (request.get("X-API-Key") === process.env.SERVICE_KEY) return next();
  response.status(401).send("Unknown key");
});
app.use(express.json());

app.post("/threads", (_request, response) => {
  response.status(201).json({ thread_id: createThread() });
});

app.post("/threads/:thread/runs", (request, response) => {
  const id = startRun(request.params.thread, request.body.prompt);
  if (id === undefined) response.status(404).json({ error: "No such thread" });
  else response.status(202).json({ run_id: id });
});

app.get("/threads/:thread/runs/:run/stream", async (request, response) => {
  const run = findRun(request.params.thread, request.params.run);
  if (!run) return response.status(404).json({ error: "No such run" });
  const events = follow(run);
  const first = await events.next(); // If it throws, Express answers with 500.
  const session = await createSession(request, response);
  session.push(first.value);
  for await (const event of events) {
    if (event.event === "error") {
      session.push({ detail: event.message }, "error");
    } else session.push(event);
  }
  response.end();
});

const server = app.listen(Number(process.env.PORT), "127.0.0.1");

process.on("SIGTERM", () => {
  server.close();
  console.log("Closing");
});
