import { AgentProcess } from "./agent_process.ts";
import {
  type BenchmarkContext,
  measure,
  type Measurement,
} from "./benchmark.ts";
import { makeCertificate } from "./certificate.ts";
import { LoadService } from "./load_service.ts";
import { floor, OURS, peer, Unavailable } from "./subjects.ts";
import { timeTurns } from "./turn.ts";

const TURNS = 20;

/** The TCP connections of one session, and what a turn takes over TLS. */
export async function connections(
  { quick, peers, folder }: BenchmarkContext,
): Promise<readonly Measurement[]> {
  const subjects = new Map([
    ["ours", OURS],
    ["floor", floor()],
    ["floor, own connections", floor("--own-connections")],
    ["langgraph", peer(peers, "langgraph.mjs")],
  ]);
  const counted = await measure({
    subjects,
    rounds: 1,
    quantities: {
      "for the streams of 20 turns": {
        unit: "connections",
        targets: [{ atMost: 2 }],
      },
      "for 20 turns": { unit: "connections" },
    },
    sample: async (command) => {
      await using service = await LoadService.start();
      await using agent = await AgentProcess.start(command, { service });
      const session = await agent.newSession();
      for (let turn = 0; turn < TURNS; turn++) {
        await agent.prompt(session, { events: 1 });
      }
      const { connections, streams } = await service.counts();
      return {
        "for the streams of 20 turns": streams,
        "for 20 turns": connections,
      };
    },
  });
  const certificate = await makeCertificate(folder);
  if (certificate instanceof Unavailable) {
    const { reason } = certificate;
    const results = [{ subject: "ours", samples: [], unmeasured: reason }];
    return [
      ...counted,
      { name: "turn over TLS", unit: "ms", results, targets: [] },
    ];
  }
  await using service = await LoadService.start(certificate);
  const timed = await measure({
    subjects,
    rounds: quick ? 1 : 5,
    quantities: { "turn over TLS": { unit: "ms" } },
    sample: async (command) => ({
      "turn over TLS": await timeTurns(command, service, quick ? 2 : 200),
    }),
  });
  return [...counted, ...timed];
}
