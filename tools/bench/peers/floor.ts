/**
 * The floor: the least code that does the bridge's input and output with `fetch`.
 * Requests arrive as JSON-RPC lines, and a stream's bytes are written unchanged.
 *
 * ```sh
 * deno run --allow-net --allow-env tools/bench/floor.ts [--share-connections]
 * ```
 *
 * Each turn has a client of its own, so that its `POST` goes over a fresh
 * connection and its `GET` over the same one, as the bridge's do: `fetch` can send
 * a `POST` twice on a connection that was used before. `--share-connections`: all
 * turns share one client and reuse its connections, which the bridge must not do.
 *
 * @module
 */
import { createInterface } from "node:readline";
import process from "node:process";

const url = Deno.env.get("APP_BASE_URL");
const headers = { "x-api-key": Deno.env.get("APP_API_KEY") ?? "" };
const shared = Deno.args.includes("--share-connections")
  ? Deno.createHttpClient({ http2: false })
  : undefined;
const output = Deno.stdout.writable.getWriter();
const encoder = new TextEncoder();

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params } = JSON.parse(line);
  const client = shared ?? Deno.createHttpClient({ http2: false });
  const result = await call(client, method, params);
  if (client !== shared) client.close();
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
