/**
 * The floor: the least code that does the client's input and output with `fetch`.
 * Requests arrive as JSON-RPC lines, and a stream's bytes are written unchanged.
 * With a text, it runs that one prompt and prints the reply. In a terminal, it echoes
 * keys, and runs what was typed at Enter.
 *
 *     deno run --allow-net --allow-env tools/bench/peers/floor.ts [TEXT]
 *
 * Its connections are those of the client: each turn has an HTTP client of its own,
 * so its `POST` opens a connection, and its `GET` uses the same one.
 *
 * @module
 */
const url = Deno.env.get("APP_BASE_URL");
const headers = { "x-api-key": Deno.env.get("APP_API_KEY") ?? "" };
const [text, form] = Deno.args;

if (Deno.stdin.isTerminal()) {
  await chat();
} else if (text === undefined) {
  await serve();
} else {
  const client = Deno.createHttpClient({});
  const stream = await runPrompt(client, await createThread(client), text);
  if (form === "--json") await stream.body?.pipeTo(Deno.stdout.writable);
  else printReply(await stream.text());
  Deno.exit(); // An open connection would keep the process alive.
}

function printReply(stream: string): void {
  const [complete = ""] = stream.match(/\{"event":"complete".*/) ?? [];
  console.log(JSON.parse(complete).instructorState.explanation);
}

async function serve(): Promise<void> {
  const { createInterface } = await import("node:readline"); // A single prompt needs none.
  const { default: process } = await import("node:process");
  const output = Deno.stdout.writable.getWriter();
  const encoder = new TextEncoder();
  createInterface({ input: process.stdin }).on("line", async (line) => {
    const { id, method, params } = JSON.parse(line);
    const client = Deno.createHttpClient({});
    let result = {};
    if (method === "session/new") {
      result = { sessionId: await createThread(client) };
    } else if (method === "session/prompt") {
      const { sessionId, prompt: [{ text }] } = params;
      const stream = await runPrompt(client, sessionId, text);
      for await (const chunk of stream.body ?? []) await output.write(chunk);
      result = { stopReason: "end_turn" };
    }
    client.close();
    const answer = JSON.stringify({ jsonrpc: "2.0", id, result });
    await output.write(encoder.encode(answer + "\n"));
  }).on("close", () => Deno.exit());
}

async function chat(): Promise<void> {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const keys = new Uint8Array(1024);
  let typed = "";
  Deno.stdin.setRaw(true);
  const first = Deno.createHttpClient({});
  const thread = await createThread(first);
  first.close();
  await Deno.stdout.write(encoder.encode("> "));
  for (;;) {
    const bytes = keys.subarray(0, await Deno.stdin.read(keys) ?? 0);
    const text = decoder.decode(bytes);
    if (text !== "\r") {
      typed += text;
      await Deno.stdout.write(bytes);
      continue;
    }
    const client = Deno.createHttpClient({});
    const stream = await runPrompt(client, thread, typed);
    for await (const chunk of stream.body ?? []) await Deno.stdout.write(chunk);
    client.close();
    typed = "";
  }
}

async function createThread(client: Deno.HttpClient): Promise<string> {
  return (await post(client, "/threads")).thread_id;
}

/** Returns the stream of a run. */
async function runPrompt(
  client: Deno.HttpClient,
  threadId: string,
  prompt: string,
): Promise<Response> {
  const runs = `/threads/${threadId}/runs`;
  const body = { agentName: "the-brain", prompt, wait: false };
  const { run_id } = await post(client, runs, JSON.stringify(body));
  return await fetch(`${url}${runs}/${run_id}/stream`, {
    headers: { ...headers, accept: "text/event-stream" },
    client,
  });
}

async function post(
  client: Deno.HttpClient,
  path: string,
  body: string | null = null,
): Promise<{ thread_id: string; run_id: string }> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body,
    client,
  });
  return await response.json();
}
