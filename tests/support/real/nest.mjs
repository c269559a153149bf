/**
 * A service on NestJS, whose `@Sse()` numbers the events of each connection from 1.
 * Its decorators are called as functions: Node.js runs JavaScript alone.
 */
// @ts-ignore: It is in the folder that REAL_SERVICES names.
import * as nest from "@nestjs/common";
// @ts-ignore: It is in the folder that REAL_SERVICES names.
import { NestFactory } from "@nestjs/core";
// @ts-ignore: It is in the folder that REAL_SERVICES names.
import { from, map } from "rxjs";
import { createThread, findRun, follow, startRun } from "./agent.mjs";

class Service {
  createThread() {
    return { thread_id: createThread() };
  }

  startRun(thread, { prompt }) {
    const id = startRun(thread, prompt);
    if (id === undefined) throw new nest.NotFoundException("No such thread");
    return { run_id: id };
  }

  async stream({ params: { thread, run }, headers, socket }) {
    const found = findRun(thread, run);
    if (!found) throw new nest.NotFoundException("No such run");
    const events = follow(found, Number(headers["last-event-id"] ?? 0));
    const first = await events.next(); // If it throws, NestJS answers with 500.
    return from(lossy(first.value, events, socket))
      .pipe(map((data) => ({ data })));
  }
}

/** An exception becomes a lost connection. */
async function* lossy(first, events, socket) {
  yield first;
  try {
    yield* events;
  } catch {
    socket.destroy();
  }
}

const RUNS = "threads/:thread/runs";

function decorate(name, decorator, ...parameters) {
  const method = Object.getOwnPropertyDescriptor(Service.prototype, name);
  decorator(Service.prototype, name, method);
  for (const [index, parameter] of parameters.entries()) {
    parameter(Service.prototype, name, index);
  }
}

decorate("createThread", nest.Post("threads"));
decorate("startRun", nest.Post(RUNS), nest.Param("thread"), nest.Body());
decorate("stream", nest.Sse(`${RUNS}/:run/stream`), nest.Req());
nest.Controller()(Service);

class Root {}
nest.Module({ controllers: [Service] })(Root);

const app = await NestFactory.create(Root, { logger: false });
app.use((request, _response, next) => {
  const isKnown = request.get("X-API-Key") === process.env.SERVICE_KEY;
  next(isKnown ? undefined : new nest.UnauthorizedException("Unknown key"));
});
await app.listen(Number(process.env.PORT), "127.0.0.1");

process.on("SIGTERM", () => {
  app.close();
  console.log("Closing");
});
