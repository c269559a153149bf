import { runCommand } from "../../run_command.ts";
import { hasWire, Wire } from "../../wire.ts";
import { AgentProcess } from "../agent_process.ts";
import { type Endpoint, settings, startService } from "../service.ts";
import { quantile, type Table } from "../table.ts";

/** A network, and what is spoken on it. */
interface Link {
  readonly version: "HTTP/1.1" | "HTTP/2";
  /** The round-trip time, in milliseconds. */
  readonly roundTrip: number;
}

const LINKS: readonly Link[] = [2, 20, 100, 300].flatMap((roundTrip) => [
  { version: "HTTP/1.1", roundTrip } as const,
  { version: "HTTP/2", roundTrip } as const,
]);

/** How many turns of a session are measured, after the first one. */
const TURNS = 15;

/** The least time between two turns, in which somebody reads, in milliseconds. */
const PAUSE = 100;

/** What tables over a network cannot be measured without. */
export const NEEDS = {
  isMet: hasWire,
  what: "root on Linux, with Python and TUN devices",
};

function nameOf({ version, roundTrip }: Link): string {
  return `${roundTrip} ms of round trip, ${version}`;
}

/** From `session/prompt` to its answer, on a service that answers at once. */
export const networkTurn: Table = {
  title: "A turn over a network, and its first event",
  subjects: ["ours", "langgraph"],
  needs: NEEDS,
  rows: LINKS.flatMap((link) => [
    { name: nameOf(link), unit: "ms" },
    { name: `${nameOf(link)}, first event`, unit: "ms" },
  ]),
  async measure({ quick, take }) {
    for (const link of LINKS) {
      await onLink(link, async (service, { client }) => {
        await take({
          rounds: 1,
          async sample(command) {
            const [turn, firstEvent] = await measureTurns(
              [...client, ...command],
              { service, count: quick ? 1 : TURNS, roundTrip: link.roundTrip },
            );
            const name = nameOf(link);
            return { [name]: turn, [`${name}, first event`]: firstEvent };
          },
        });
      });
    }
  },
};

/** From the start of a program to its end. */
export const networkPrompt: Table = {
  title: "One prompt from the shell over a network",
  subjects: ["ours", "curl", "langgraph"],
  needs: NEEDS,
  rows: LINKS.map((link) => ({ name: nameOf(link), unit: "ms" })),
  async measure({ take }) {
    for (const link of LINKS) {
      await onLink(link, async (service, { client }) => {
        const env = settings(service);
        await take({
          prompt: JSON.stringify({ events: 1 }),
          rounds: 5,
          async sample(command) {
            const started = performance.now();
            const text = await runCommand([...client, ...command], { env });
            const milliseconds = performance.now() - started;
            if (text === "done\n") return { [nameOf(link)]: milliseconds };
            throw new Error(`It printed ${JSON.stringify(text)}`);
          },
        });
      });
    }
  },
};

/** Calls a function with a service on a network. */
export async function onLink(
  link: Link,
  use: (service: Endpoint, wire: Wire) => Promise<void>,
): Promise<void> {
  await using wire = await Wire.start(link);
  const protocol = link.version === "HTTP/2" ? "h2" : "https";
  const place = { address: wire.address, startedBy: wire.service };
  await using service = await startService(protocol, place);
  await use(service, wire);
}

interface Turns {
  readonly service: Endpoint;
  readonly count: number;
  readonly roundTrip: number;
}

/** The medians of the turns of a session, and of their first events. */
async function measureTurns(
  command: readonly string[],
  { service, count, roundTrip }: Turns,
): Promise<readonly [turn: number, firstEvent: number]> {
  let firstEvent: number | undefined;
  const onEvent = () => firstEvent ??= performance.now();
  await using agent = await AgentProcess.start(command, { service, onEvent });
  const session = await agent.newSession();
  const turns: number[] = [];
  const events: number[] = [];
  for (let turn = 0; turn <= count; turn++) {
    await new Promise((resolve) =>
      setTimeout(resolve, Math.max(PAUSE, 2 * roundTrip))
    );
    firstEvent = undefined;
    const started = performance.now();
    await agent.prompt(session, { events: 1 });
    if (turn === 0) continue; // Programs compile what they run for the first time.
    turns.push(performance.now() - started);
    events.push((firstEvent ?? NaN) - started);
  }
  return [quantile(turns, 0.5), quantile(events, 0.5)];
}
