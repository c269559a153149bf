/**
 * Runs the real client against the reference service on loopback.
 *
 *     deno task demo            a chat: yours in a terminal, else a short one
 *     deno task demo --bridge   a JSON-RPC session, line by line
 *
 * @module
 */
import { TextLineStream } from "@std/streams/text-line-stream";
import { ReferenceService } from "../tests/support/service/service.ts";
import { goOnAfterStop, sameFlags } from "./deno.ts";

const KEY = "demo-key-0123456789abcdef";
const PROMPTS = ["hello", "what did I say before?"];
const ROOT = `${import.meta.dirname}/..`;

if (Deno.args.some((argument) => argument !== "--bridge")) {
  console.error("Usage: deno task demo [--bridge]");
  Deno.exit(2);
}
const play = Deno.args.includes("--bridge")
  ? playBridge
  : Deno.stdin.isTerminal() && Deno.stdout.isTerminal()
  ? playTerminal
  : playChat;

await using service = ReferenceService.start({
  key: KEY,
  pace: Deno.stdout.isTerminal() ? 300 : 50,
});
Deno.exitCode = await play(service);

/** Hands the terminal to the client. */
async function playTerminal({ url }: ReferenceService): Promise<number> {
  console.error(
    `The reference service listens on ${url}. It answers prompts such as:\n` +
      [...PROMPTS, "what is 6 * 7?"].map((p) => `  ${p}\n`).join("") +
      "Type exit to leave.",
  );
  const client = start(url, [], "inherit", "inherit");
  return (await client.status).code;
}

/**
 * Sends two prompts on one thread. Each prompt is shown when the stream of its run is
 * requested: the client has most likely written its line about the thread by then.
 */
async function playChat(service: ReferenceService): Promise<number> {
  for (const [index, prompt] of PROMPTS.entries()) {
    service.waitFor("stream", index + 1).then(
      () => console.error(`> ${prompt}`),
      () => {}, // The client has failed and has reported it.
    );
  }
  const client = start(service.url, [], "piped", "inherit");
  await send(client.stdin.getWriter(), [...PROMPTS, "exit"].join("\n") + "\n");
  return (await client.status).code;
}

/** Runs a session like an editor, each request after the answer to the one before. */
async function playBridge({ url }: ReferenceService): Promise<number> {
  const client = start(url, ["--bridge"], "piped", "piped");
  const writer = client.stdin.getWriter();
  const lines = client.stdout
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new TextLineStream())
    .getReader();
  let id = 0;

  async function request(method: string, params?: unknown) {
    id++;
    const line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    console.log(`--> ${line}`);
    await send(writer, `${line}\n`);
    for (;;) {
      const { done, value } = await lines.read();
      if (done) Deno.exit((await client.status).code);
      console.log(`<-- ${value}`);
      const message = JSON.parse(value);
      if (message.id === id) return message.result;
    }
  }

  await request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  await request("agents/list");
  const session = { cwd: "/home/me/project", mcpServers: [] };
  const sessionId = (await request("session/new", session))?.sessionId;
  for (const text of PROMPTS) {
    const prompt = [{ type: "text", text }];
    await request("session/prompt", { sessionId, prompt });
  }
  await request("session/close", { sessionId });
  await writer.close().catch(() => {});
  await lines.cancel();
  return (await client.status).code;
}

/** Starts the client from source, as a process of its own. */
function start(
  url: string,
  args: readonly string[],
  stdin: "inherit" | "piped",
  stdout: "inherit" | "piped",
): Deno.ChildProcess {
  const client = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      ...sameFlags,
      "-P=client",
      "--no-prompt",
      `${ROOT}/main.ts`,
      ...args,
    ],
    env: { APP_API_KEY: KEY, APP_BASE_URL: url },
    stdin,
    stdout,
    stderr: "inherit",
  }).spawn();
  // The client decides how to handle a signal, and this process outlives it. A
  // terminal sends SIGINT to both.
  const terminal = [Deno.stdin, Deno.stdout, Deno.stderr]
    .some((stream) => stream.isTerminal());
  Deno.addSignalListener("SIGINT", () => {
    if (!terminal && Deno.build.os !== "windows") kill(client, "SIGINT");
  });
  if (Deno.build.os !== "windows") {
    Deno.addSignalListener("SIGTERM", () => kill(client, "SIGTERM"));
    goOnAfterStop(client);
  }
  return client;
}

function kill(client: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    client.kill(signal);
  } catch {
    // The client has just ended.
  }
}

/** Writes lines that the client may not read any more: its exit code shows why. */
async function send(
  writer: WritableStreamDefaultWriter<Uint8Array>,
  text: string,
): Promise<void> {
  try {
    await writer.write(new TextEncoder().encode(text));
  } catch {
    // The client has ended.
  }
}
