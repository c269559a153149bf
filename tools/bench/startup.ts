import {
  type BenchmarkContext,
  measure,
  type Measurement,
} from "./benchmark.ts";
import { KEY } from "./load_service.ts";
import { type Command, OURS, peer, Unavailable } from "./subjects.ts";

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: 1, clientCapabilities: {} },
}) + "\n";

/**
 * From the start of a program to the answer of `initialize`; for the empty
 * program, which prints one line when it is up, to that line.
 */
export async function startup(
  { quick, peers, buildPrograms }: BenchmarkContext,
): Promise<readonly Measurement[]> {
  const programs = await buildPrograms();
  const agent = peer(peers, "acp_agent.mjs");
  const kinds = [
    ["source", OURS, programs.emptySource, []],
    ["bundle", programs.bundle("--bridge"), programs.emptyBundle, [
      { against: "empty", atMost: 1.35 },
      { against: "acp-sdk", atMost: 1 / 3 },
    ]],
    ["binary", programs.binary("--bridge"), programs.emptyBinary, [
      { against: "empty", atMost: 1.25 },
      { against: "acp-sdk", atMost: 1 / 3 },
    ]],
  ] as const;
  const measurements: Measurement[] = [];
  for (const [name, ours, empty, targets] of kinds) {
    const subjects = new Map([
      ["ours", ours],
      ["empty", empty],
      ["acp-sdk", agent],
    ]);
    // Deno writes its caches at the end of the first run, which is not measured.
    for (const command of quick ? [] : subjects.values()) {
      if (!(command instanceof Unavailable)) await runToEnd(command);
    }
    measurements.push(
      ...await measure({
        subjects,
        rounds: quick ? 1 : 20,
        quantities: { [name]: { unit: "ms", targets } },
        sample: async (command) => ({ [name]: await timeToFirstLine(command) }),
      }),
    );
  }
  return measurements;
}

async function runToEnd(command: Command): Promise<void> {
  const { child, input } = start(command);
  await input.close().catch(() => {});
  await child.stdout.pipeTo(new WritableStream());
  await child.status;
}

function start(
  { program, args }: Command,
): { child: Deno.ChildProcess; input: WritableStreamDefaultWriter } {
  const child = new Deno.Command(program, {
    args: [...args],
    env: { APP_API_KEY: KEY, APP_BASE_URL: "http://127.0.0.1:8" },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  const write = input.write(new TextEncoder().encode(INITIALIZE));
  write.catch(() => {}); // An empty program reads nothing.
  return { child, input };
}

async function timeToFirstLine(command: Command): Promise<number> {
  const started = performance.now();
  const { child, input } = start(command);
  const output = child.stdout.getReader();
  const { value } = await output.read();
  const milliseconds = performance.now() - started;
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended.
  }
  input.abort().catch(() => {});
  await output.cancel();
  await child.status;
  if (value?.at(-1) !== 0x0a) throw new Error("It printed no line");
  return milliseconds;
}
