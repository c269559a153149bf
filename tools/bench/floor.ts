/**
 * The floor: the least code that does the bridge's input and output with `fetch`.
 * Requests arrive as JSON-RPC lines, and a stream's bytes are written unchanged.
 *
 * ```sh
 * deno run --allow-net --allow-env tools/bench/floor.ts [--own-connections]
 * ```
 *
 * `--own-connections`: each `POST` gets a connection of its own, as the bridge's.
 *
 * @module
 */
import { createInterface } from "node:readline";
import process from "node:process";

const url = Deno.env.get("APP_BASE_URL");
const headers = { "x-api-key": Deno.env.get("APP_API_KEY") ?? "" };
const client = Deno.args.includes("--own-connections")
  ? { client: Deno.createHttpClient({ poolMaxIdlePerHost: 0 }) }
  : {};
const output = Deno.stdout.writable.getWriter();
const encoder = new TextEncoder();

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params } = JSON.parse(line);
  const result = await call(method, params);
  const answer = JSON.stringify({ jsonrpc: "2.0", id, result });
  await output.write(encoder.encode(answer + "\n"));
}).on("close", () => Deno.exit());

async function call(
  method: string,
  params: { sessionId: string; prompt: [{ text: string }] },
): Promise<unknown> {
  if (method === "session/new") {
    const { thread_id } = await post("/threads");
    return { sessionId: thread_id };
  }
  if (method === "session/prompt") {
    const runs = `/threads/${params.sessionId}/runs`;
    const prompt = params.prompt[0].text;
    const { run_id } = await post(
      runs,
      JSON.stringify({ agentName: "the-brain", prompt, wait: false }),
    );
    const stream = await fetch(`${url}${runs}/${run_id}/stream`, {
      headers: { ...headers, accept: "text/event-stream" },
    });
    for await (const chunk of stream.body ?? []) await output.write(chunk);
    return { stopReason: "end_turn" };
  }
  return {};
}

async function post(
  path: string,
  body?: string,
): Promise<{ thread_id: string; run_id: string }> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: body ?? null,
    ...client,
  });
  return await response.json();
}
