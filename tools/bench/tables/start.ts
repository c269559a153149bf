import { runCommand } from "../../run_command.ts";
import { AgentProcess } from "../agent_process.ts";
import type { Form } from "../programs.ts";
import { settings, startService } from "../service.ts";
import type { Table } from "../table.ts";

const FORMS: Readonly<Record<Form, string>> = {
  bundle: "npm package",
  binary: "binary",
};

const ROWS = Object.values(FORMS).map((name) => ({ name, unit: "ms" }));

/** For the empty program, which answers when it is up, to that answer. */
export const start: Table = {
  title: "Start of the bridge",
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
          return { [FORMS[form]]: milliseconds };
        },
      });
    }
  },
};

/** From the start of a program to its end. */
export const prompt: Table = {
  title: "One prompt from the shell",
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
          if (text === "done\n") return { [FORMS[form]]: milliseconds };
          throw new Error(`It printed ${JSON.stringify(text)}`);
        },
      });
    }
  },
};
