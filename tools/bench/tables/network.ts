import { runCommand } from "../../run_command.ts";
import { hasWire, Wire } from "../../wire.ts";
import { AgentProcess } from "../agent_process.ts";
import { type Endpoint, settings, startService } from "../service.ts";
import { quantile, type Table } from "../table.ts";

/** The round-trip time, in milliseconds. */
const ROUND_TRIP = 100;

/** How many turns of a session are measured, after the first one. */
const TURNS = 15;

/** The time between two turns, in which somebody reads, in milliseconds. */
const PAUSE = 2 * ROUND_TRIP;

/** What tables over a network cannot be measured without. */
export const NEEDS = {
  isMet: hasWire,
  what: "root on Linux, with Python and TUN devices",
};

/** What the table's rows are called. */
const [REPLY, RESPONSE, PROMPT] = ["to the reply", "to the response", "`-p`"];

/** From `session/prompt` to its answer, on a service that answers at once. */
export const networkTurn: Table = {
  title: `A turn, ${ROUND_TRIP} ms of round trip`,
  subjects: ["ours", "langgraph"],
  needs: NEEDS,
  rows: [REPLY, RESPONSE].map((name) => ({ name, unit: "ms" })),
  measure: ({ quick, take }) =>
    onLink((service, { client }) =>
      take({
        rounds: 1,
        sample: (command) =>
          measureTurns([...client, ...command], service, quick ? 1 : TURNS),
      })
    ),
};

/** From the start of a program to its end. */
export const networkPrompt: Table = {
  title: `One prompt from the shell, ${ROUND_TRIP} ms of round trip`,
  subjects: ["ours", "curl", "langgraph"],
  needs: NEEDS,
  rows: [{ name: PROMPT, unit: "ms" }],
  measure: ({ take }) =>
    onLink((service, { client }) => {
      const env = settings(service);
      return take({
        prompt: JSON.stringify({ events: 1 }),
        rounds: 5,
        async sample(command) {
          const started = performance.now();
          const text = await runCommand([...client, ...command], { env });
          const milliseconds = performance.now() - started;
          if (text === "done\n") return { [PROMPT]: milliseconds };
          throw new Error(`It printed ${JSON.stringify(text)}`);
        },
      });
    }),
};

/** Calls a function with a service on a network, which speaks HTTP/2. */
async function onLink(
  use: (service: Endpoint, wire: Wire) => Promise<void>,
): Promise<void> {
  await using wire = await Wire.start({ roundTrip: ROUND_TRIP });
  const place = { address: wire.address, startedBy: wire.service };
  await using service = await startService("h2", place);
  await use(service, wire);
}

/** The medians of a session's turns, up to the reply and up to the response. */
async function measureTurns(
  command: readonly string[],
  service: Endpoint,
  count: number,
): Promise<Readonly<Record<string, number>>> {
  let eventAt = NaN;
  const onEvent = () => eventAt = performance.now(); // The last is the reply.
  await using agent = await AgentProcess.start(command, { service, onEvent });
  const session = await agent.newSession();
  const replies: number[] = [];
  const responses: number[] = [];
  for (let turn = 0; turn <= count; turn++) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    const started = performance.now();
    await agent.prompt(session, { events: 1 });
    if (turn === 0) continue; // Programs compile what they run for the first time.
    replies.push(eventAt - started);
    responses.push(performance.now() - started);
  }
  return {
    [REPLY]: quantile(replies, 0.5),
    [RESPONSE]: quantile(responses, 0.5),
  };
}
