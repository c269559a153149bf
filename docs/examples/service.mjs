/**
 * A whole service in Node.js, without a framework. Your agent is in `runs.mjs`.
 *
 *     SERVICE_KEY=0123456789abcdef PORT=8000 node service.mjs
 */
import { createServer } from "node:http";
import { createThread, follow, start, threads } from "./runs.mjs";

async function handle(request, response) {
  const answer = (status, value) =>
    response.writeHead(status, { "content-type": "application/json" })
      .end(JSON.stringify(value));
  const refuse = (status, message) => answer(status, { message });

  const { "x-api-key": key, "last-event-id": lastEventId } = request.headers;
  if (!key || key !== process.env.SERVICE_KEY) {
    return refuse(401, "Unknown key");
  }
  const path = /^\/threads(?:\/([^/]+)\/runs(?:\/([^/]+)\/stream)?)?$/
    .exec(request.url);
  const [, threadId, runId] = path ?? [];
  const isKnown = path && request.method === (runId ? "GET" : "POST");
  if (!isKnown) return refuse(404, "No such path");

  if (!threadId) return answer(201, { thread_id: createThread() });
  const thread = threads.get(threadId);
  if (!thread) return refuse(404, "No such thread");

  if (runId) {
    const run = thread.runs.get(runId);
    if (!run) return refuse(404, "No such run");
    return follow(run, lastEventId, response);
  }
  let prompt;
  try {
    ({ prompt } = JSON.parse(Buffer.concat(await request.toArray())));
  } catch {
    // Refused below.
  }
  if (typeof prompt !== "string") return refuse(400, "No prompt");
  answer(201, { run_id: start(thread, prompt) });
}

createServer((request, response) => {
  handle(request, response).catch(() => response.destroy());
}).listen(process.env.PORT, "127.0.0.1");
