import { curl, floor } from "../peers.ts";
import type { Command } from "../programs.ts";
import { type Endpoint, settings, startService } from "../service.ts";
import type { Table } from "../table.ts";

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
export const start: Table = {
  title: "From the start to the answer of `initialize`",
  subjects: ["ours", "empty", "acp-sdk"],
  rows: [
    { name: "bundle", unit: "ms" },
    { name: "binary", unit: "ms" },
  ],
  async measure({ programs, peer }, samples) {
    for (const row of ["bundle", "binary"] as const) {
      const form = programs[row];
      if (form === undefined) continue;
      await samples.take({
        subjects: {
          ours: form.client("--bridge"),
          empty: form.empty,
          "acp-sdk": peer("acp_agent.mjs"),
        },
        rounds: 20,
        warmUp: true,
        sample: async (command) => ({ [row]: await timeToFirstLine(command) }),
      });
    }
  },
};

async function timeToFirstLine(
  { program, args, env = {} }: Command,
): Promise<number> {
  const started = performance.now();
  const child = new Deno.Command(program, {
    args: [...args],
    // Nothing is sent to this service.
    env: { ...env, ...settings({ url: "http://127.0.0.1:8" }) },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  // An empty program reads nothing.
  input.write(new TextEncoder().encode(INITIALIZE)).catch(() => {});
  const output = child.stdout.getReader();
  const { value } = await output.read();
  const milliseconds = performance.now() - started;
  await input.close().catch(() => {});
  // To its end: Deno writes its caches at the end of the first run.
  while (!(await output.read()).done);
  await child.status;
  if (value?.at(-1) !== 0x0a) throw new Error("It printed no line");
  return milliseconds;
}

/** One step and the reply, at once. */
const TEXT = JSON.stringify({ events: 1 });

/** One prompt from a shell: from the start of a program to its end. */
export const prompt: Table = {
  title: "One prompt from the shell, from the start to the end",
  subjects: ["ours", "floor", "curl", "langgraph"],
  rows: [
    { name: "bundle", unit: "ms" },
    { name: "binary", unit: "ms" },
  ],
  async measure({ programs, peer }, samples) {
    await using service = await startService();
    for (const row of ["bundle", "binary"] as const) {
      const form = programs[row];
      if (form === undefined) continue;
      await samples.take({
        subjects: {
          ours: form.client("-q", "-p", TEXT),
          floor: floor(TEXT),
          curl: curl(TEXT),
          langgraph: peer("node_bridge.mjs", "langgraph", TEXT),
        },
        rounds: 20,
        warmUp: true, // Deno writes its caches at the end of the first run.
        sample: async (command) => ({
          [row]: await timeReply(command, service),
        }),
      });
    }
  },
};

/** @throws If the program fails, or does not print the reply. */
async function timeReply(
  { program, args, env = {} }: Command,
  service: Endpoint,
): Promise<number> {
  const started = performance.now();
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    env: { ...env, ...settings(service) },
    stdin: "null",
  }).output();
  const milliseconds = performance.now() - started;
  const decoder = new TextDecoder();
  const text = decoder.decode(stdout);
  if (code === 0 && text === "done\n") return milliseconds;
  throw new Error(
    `Exit code ${code}, output ${JSON.stringify(text)}: ${
      decoder.decode(stderr).trim()
    }`,
  );
}
