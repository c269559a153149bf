import { runCommand } from "../../run_command.ts";
import { AgentProcess } from "../agent_process.ts";
import { settings, startService } from "../service.ts";
import type { Table } from "../table.ts";

const ROWS = [{ name: "bundle", unit: "ms" }, { name: "binary", unit: "ms" }];

/** For the empty program, which answers when it is up, to that answer. */
export const start: Table = {
  title: "From the start to the answer of `initialize`",
  subjects: ["ours", "empty", "acp-sdk"],
  rows: ROWS,
  async measure({ forms, take }) {
    const service = { url: "http://127.0.0.1:8" }; // Nothing is sent to it.
    for (const form of forms) {
      await take({
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
  },
};

/** From the start of a program to its end. */
export const prompt: Table = {
  title: "One prompt from the shell, from the start to the end",
  subjects: ["ours", "floor", "curl", "langgraph"],
  rows: ROWS,
  async measure({ forms, take }) {
    await using service = await startService();
    for (const form of forms) {
      await take({
        form,
        prompt: JSON.stringify({ events: 1 }),
        rounds: 20,
        async sample(command) {
          const started = performance.now();
          const text = await runCommand(command, { env: settings(service) });
          const milliseconds = performance.now() - started;
          if (text === "done\n") return { [form]: milliseconds };
          throw new Error(`It printed ${JSON.stringify(text)}`);
        },
      });
    }
  },
};
