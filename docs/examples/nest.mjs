/** A service on NestJS. Your agent is in `runs.mjs`. */
import * as nest from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { createThread, follow, start, threads } from "./runs.mjs";

class Threads {
  createThread() {
    const thread_id = createThread();
    return { thread_id };
  }

  startRun(threadId, prompt) {
    const thread = threads.get(threadId);
    if (!thread) throw new nest.NotFoundException("No such thread");
    if (typeof prompt !== "string") throw new nest.BadRequestException();
    return { run_id: start(thread, prompt) };
  }

  followRun({ threadId, runId }, lastEventId, response) {
    const run = threads.get(threadId)?.runs.get(runId);
    if (!run) throw new nest.NotFoundException("No such run");
    follow(run, lastEventId, response);
  }
}

// Decorators are calls here: JavaScript has no syntax for them.
function decorate(name, decorator, ...parameters) {
  const method = Object.getOwnPropertyDescriptor(Threads.prototype, name);
  decorator(Threads.prototype, name, method);
  parameters.forEach((parameter, i) => parameter(Threads.prototype, name, i));
}
const { Body, Get, Headers, Param, Post, Res } = nest;
const stream = Get(":threadId/runs/:runId/stream");
decorate("createThread", Post());
decorate("startRun", Post(":threadId/runs"), Param("threadId"), Body("prompt"));
decorate("followRun", stream, Param(), Headers("last-event-id"), Res());
nest.Controller("threads")(Threads);

const module = { module: class App {}, controllers: [Threads] };
const app = await NestFactory.create(module, { logger: ["error"] });
app.use((request, _response, next) => {
  const key = request.get("X-API-Key");
  if (key && key === process.env.SERVICE_KEY) return next();
  next(new nest.UnauthorizedException("Unknown key"));
});
await app.listen(process.env.PORT, "127.0.0.1");
