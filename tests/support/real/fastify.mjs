/**
 * A service on Fastify and its SSE plugin: events are numbered, and a stream goes
 * on after `Last-Event-ID`. A reply stands in `instructorState.explanation`.
 */
// @ts-ignore: It is in the folder that REAL_SERVICES names.
import sse from "@fastify/sse";
// @ts-ignore: It is in the folder that REAL_SERVICES names.
import fastify from "fastify";
import { createThread, findRun, follow, startRun } from "./agent.mjs";

const app = fastify();
await app.register(sse);

app.addHook("onRequest", async (request, reply) => {
  if (request.headers["x-api-key"] === process.env.API_KEY) return;
  return await reply.code(401).send(new Error("Unknown key"));
});

app.post("/threads", () => ({ thread_id: createThread() }));

app.post("/threads/:thread/runs", async (request, reply) => {
  const id = startRun(request.params.thread, request.body.prompt);
  return id === undefined ? await reply.callNotFound() : { run_id: id };
});

app.get(
  "/threads/:thread/runs/:run/stream",
  { sse: "only" },
  async (request, reply) => {
    const run = findRun(request.params.thread, request.params.run);
    if (!run) return await reply.callNotFound();
    let id = Number(reply.sse.lastEventId ?? 0);
    for await (const { messages, ...event } of follow(run, id)) {
      if (event.event === "error") {
        await reply.sse.send({
          event: "error",
          data: { message: event.message },
        });
      } else {
        const explanation = messages?.at(-1).content;
        const data = { ...event, instructorState: { explanation } };
        await reply.sse.send({ id: ++id, data });
      }
    }
  },
);

console.log(await app.listen({ port: Number(process.env.PORT) }));

process.on("SIGTERM", () => {
  app.close();
  console.log("Closing");
});
