import { runCommand } from "../../run_command.ts";
import { AgentProcess } from "../agent_process.ts";
import type { Command, CommandOptions } from "../programs.ts";
import { settings, startService } from "../service.ts";
import type { Bench, Table } from "../table.ts";
import { measureWork, type WorkOptions } from "../work.ts";

const INSTRUCTIONS = "bundle, instructions";
const PAGE_FAULTS = "bundle, page faults";

const ROWS = [
  { name: "bundle", unit: "ms" },
  { name: "binary", unit: "ms" },
  { name: INSTRUCTIONS, unit: "million" },
  { name: PAGE_FAULTS, unit: "pages" },
];

const INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n';

/** For the empty program, which answers when it is up, to that answer. */
export const start: Table = {
  title: "From the start to the answer of `initialize`",
  subjects: ["ours", "empty", "acp-sdk"],
  rows: ROWS,
  async measure(bench) {
    const service = { url: "http://127.0.0.1:8" }; // Nothing is sent to it.
    for (const form of bench.forms) {
      await bench.take({
        form,
        rounds: 20,
        async sample(command) {
          const started = performance.now();
          await using agent = await AgentProcess.start(command, { service });
          const milliseconds = performance.now() - started;
          await agent.close(); // Deno writes its caches at the end of the first run.
          return { [form]: milliseconds };
        },
      });
    }
    await takeWork(bench, {}, { env: settings(service), input: INITIALIZE });
  },
};

/** From the start of a program to its end. */
export const prompt: Table = {
  title: "One prompt from the shell, from the start to the end",
  subjects: ["ours", "floor", "curl", "langgraph"],
  rows: ROWS,
  async measure(bench) {
    await using service = await startService();
    const env = settings(service);
    const prompt = JSON.stringify({ events: 1 });
    for (const form of bench.forms) {
      await bench.take({
        form,
        prompt,
        rounds: 20,
        async sample(command) {
          const started = performance.now();
          const text = await runCommand(command, { env });
          const milliseconds = performance.now() - started;
          if (text === "done\n") return { [form]: milliseconds };
          throw new Error(`It printed ${JSON.stringify(text)}`);
        },
      });
    }
    await takeWork(bench, { prompt }, { env, input: "" });
  },
};

/** Counts the work of the programs that run on Deno: once, for it hardly varies. */
async function takeWork(
  { quick, take }: Bench,
  options: CommandOptions,
  work: WorkOptions,
): Promise<void> {
  if (quick) return;
  await take({
    ...options,
    rounds: 1,
    async sample(command: Command) {
      if (command[0] !== Deno.execPath()) return {};
      const { instructions, pageFaults } = await measureWork(command, work);
      return { [INSTRUCTIONS]: instructions, [PAGE_FAULTS]: pageFaults };
    },
  });
}
