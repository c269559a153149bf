import { runCommand } from "../../run_command.ts";
import { AgentProcess } from "../agent_process.ts";
import { processUsage } from "../processes.ts";
import {
  settings,
  type Shape,
  SMALLEST_EVENT,
  startService,
} from "../service.ts";
import type { Table } from "../table.ts";

/** The streams by the names of their rows. */
const STREAMS: Readonly<Record<string, Shape & { readonly events: number }>> = {
  "in chunks of 64 KiB": { events: 200_000 },
  "one a chunk": { events: 50_000, chunkBytes: SMALLEST_EVENT },
  "of 10 MB": { events: 4, eventBytes: 10_000_000 },
};

/** A prompt whose events are printed, from the start of a program to its end. */
const PRINTED = { name: "printed by `--json`", events: 300_000 };

/**
 * What an event costs, from the service's socket to the lines on a pipe. CPU, because
 * the time depends on the service, too; with `--json`, the time of the whole process.
 */
export const streams: Table = {
  title: "An event",
  subjects: ["ours", "floor", "langgraph", "eventsource-parser"],
  rows: [
    // Other load on the machine only adds to the CPU, so a low quantile varies less.
    ...Object.keys(STREAMS).map((name) => ({
      name,
      unit: "us of CPU",
      share: 0.1,
    })),
    { name: PRINTED.name, unit: "us" },
  ],
  async measure({ quick, take }) {
    await using service = await startService();
    for (const [name, shape] of Object.entries(STREAMS)) {
      const events = Math.ceil(shape.events / (quick ? 100 : 1));
      await take({
        rounds: 10,
        async sample(command) {
          await using agent = await AgentProcess.start(command, { service });
          const session = await agent.newSession();
          await agent.prompt(session, { events: 1 });
          const before = await processUsage(agent.pid);
          await agent.prompt(session, { ...shape, events });
          const after = await processUsage(agent.pid);
          return { [name]: (after.cpu - before.cpu) / events * 1000 };
        },
      });
    }
    const events = PRINTED.events / (quick ? 100 : 1);
    await take({
      rounds: 4,
      prompt: JSON.stringify({ events }),
      printsEvents: true,
      async sample(command) {
        const started = performance.now();
        const text = await runCommand(command, { env: settings(service) });
        const microseconds = (performance.now() - started) * 1000;
        const printed = text.split('progress"').length - 1;
        if (printed !== events) throw new Error(`It printed ${printed} events`);
        return { [PRINTED.name]: microseconds / events };
      },
    });
  },
};
