/**
 * The floor: the least code that does the bridge's input and output with `fetch`.
 * Requests arrive as JSON-RPC lines, and a stream's bytes are written unchanged.
 *
 * ```sh
 * deno run --allow-net --allow-env tools/bench/peers/floor.ts
 * ```
 *
 * Its connections are those of the bridge: each turn has a client of its own, so
 * its `POST` opens a connection, and its `GET` uses the same one.
 *
 * @module
 */
import { createInterface } from "node:readline";
import process from "node:process";

const url = Deno.env.get("APP_BASE_URL");
const headers = { "x-api-key": Deno.env.get("APP_API_KEY") ?? "" };
const output = Deno.stdout.writable.getWriter();
const encoder = new TextEncoder();

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params } = JSON.parse(line);
  const client = Deno.createHttpClient({});
  const result = await call(client, method, params);
  client.close();
  const answer = JSON.stringify({ jsonrpc: "2.0", id, result });
  await output.write(encoder.encode(answer + "\n"));
}).on("close", () => Deno.exit());

async function call(
  client: Deno.HttpClient,
  method: string,
  params: { sessionId: string; prompt: [{ text: string }] },
): Promise<unknown> {
  if (method === "session/new") {
    const { thread_id } = await post(client, "/threads");
    return { sessionId: thread_id };
  }
  if (method === "session/prompt") {
    const runs = `/threads/${params.sessionId}/runs`;
    const prompt = params.prompt[0].text;
    const { run_id } = await post(
      client,
      runs,
      JSON.stringify({ agentName: "the-brain", prompt, wait: false }),
    );
    const stream = await fetch(`${url}${runs}/${run_id}/stream`, {
      headers: { ...headers, accept: "text/event-stream" },
      client,
    });
    for await (const chunk of stream.body ?? []) await output.write(chunk);
    return { stopReason: "end_turn" };
  }
  return {};
}

async function post(
  client: Deno.HttpClient,
  path: string,
  body?: string,
): Promise<{ thread_id: string; run_id: string }> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: body ?? null,
    client,
  });
  return await response.json();
}
