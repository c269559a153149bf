/**
 * The in-memory server of LangGraph.js with the graph of `langgraph_graph.mjs`,
 * and in front of it an adapter that translates the three operations, with
 * LangGraph's own client.
 */
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
// @ts-ignore: It is in the folder that REAL_SERVICES names.
import { startServer } from "@langchain/langgraph-api/server";
// @ts-ignore: It is in the folder that REAL_SERVICES names.
import { Client } from "@langchain/langgraph-sdk";

const { host } = await startServer({
  port: 0,
  host: "127.0.0.1",
  nWorkers: 1,
  cwd: process.cwd(),
  graphs: { "the-brain": "./langgraph_graph.mjs:graph" },
});
const { threads, runs } = new Client({ apiUrl: `http://${host}` });
const prompts = new Map(); // by the ids of their runs

async function answer(request, response) {
  if (request.headers["x-api-key"] !== process.env.SERVICE_KEY) {
    return json(response, 401, { error: "Unknown key" });
  }
  const [, , threadId, , runId] = request.url.split("/");
  if (threadId === undefined) {
    const { thread_id } = await threads.create();
    return json(response, 200, { thread_id });
  }
  if (runId === undefined) {
    const { agentName, prompt } = JSON.parse(await text(request));
    if (prompt === "be refused") throw new Error("the queue of runs is closed");
    const { run_id } = await runs.create(threadId, agentName, {
      input: { messages: [{ role: "user", content: prompt }] },
      streamMode: ["updates", "values"],
      streamResumable: true,
    });
    prompts.set(run_id, prompt);
    return json(response, 200, { run_id });
  }
  if (prompts.get(runId) === "break before") {
    throw new Error("the log is unreadable");
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const lastEventId = request.headers["last-event-id"] ?? "-1";
  await pipeline(translate(threadId, runId, lastEventId), response);
}

/** LangGraph's events as those of the interface. */
async function* translate(threadId, runId, lastEventId) {
  let values;
  for await (
    const { id, event, data } of runs.joinStream(threadId, runId, {
      lastEventId,
    })
  ) {
    if (event === "error") {
      yield `id: ${id}\nevent: error\ndata: ${JSON.stringify(data)}\n\n`;
      return;
    }
    if (event === "values") values = data;
    if (event !== "updates") continue;
    for (const node of Object.keys(data)) {
      const progress = { event: "progress", node, status: "done" };
      yield `id: ${id}\ndata: ${JSON.stringify(progress)}\n\n`;
    }
    if (prompts.get(runId) === "break during") {
      prompts.delete(runId);
      await setImmediate(); // The event is sent before.
      throw new Error("the log is unreadable");
    }
  }
  const { messages } = values ?? (await threads.getState(threadId)).values;
  yield `data: ${JSON.stringify({ event: "complete", messages })}\n\n`;
}

function json(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

const adapter = createServer((request, response) => {
  answer(request, response).catch((error) => {
    if (response.headersSent) response.destroy();
    else json(response, error.status ?? 500, { error: error.message });
  });
});
adapter.listen(Number(process.env.PORT), "127.0.0.1");
