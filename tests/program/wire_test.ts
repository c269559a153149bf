import { assertEquals, assertMatch } from "@std/assert";
import { settings, startService } from "../../tools/bench/service.ts";
import { hasWire, Wire } from "../../tools/wire.ts";
import { runClient } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";

// The real program on a network with real TCP and a delay, which needs root on Linux.
// Elsewhere these tests are ignored.
const ignore = !hasWire();

/** Half of it is longer than the program needs between two packets. */
const ROUND_TRIP = 400;

/**
 * Asserts that something takes no more round trips than this, in one of five attempts: a
 * program that a busy machine keeps waiting between two packets takes more.
 */
async function assertRoundTrips(
  most: number,
  count: () => Promise<number>,
): Promise<void> {
  const counts: number[] = [];
  while (counts.length < 5) {
    const taken = Math.floor(await count());
    if (taken <= most) return;
    counts.push(taken);
  }
  throw new Error(`The round trips: ${counts}`);
}

/** A prompt for which the service sends one event and the reply, at once. */
const PROMPT = JSON.stringify({ events: 1 });

/** Runs a prompt by a script on the client's side. */
async function takeTurn(
  service: { readonly url: string },
  startedBy: readonly string[],
  onStdout = () => {},
): Promise<void> {
  const args = ["--thread", "t", "-q", "-p", PROMPT];
  const env = settings(service);
  const how = { args, env, startedBy, onStdout };
  const { code, stdout, stderr } = await runClient(how);
  assertEquals([code, stdout, stderr], [0, "done\n", ""]);
}

for (const protocol of ["https", "h2"] as const) {
  const version = protocol === "h2" ? "HTTP/2" : "HTTP/1.1";

  Deno.test({
    name:
      `${version}: a turn takes three round trips after the connection that was opened ahead`,
    ignore,
    async fn() {
      await using wire = await Wire.start({ roundTrip: ROUND_TRIP });
      const place = { address: wire.address, startedBy: wire.service };
      await using service = await startService(protocol, place);
      const takeTurns = async () => {
        await using editor = new Editor({
          env: settings(service),
          startedBy: wire.client,
        });
        const sessionId = await editor.newSession();
        await wire.rest();
        let most = 0;
        for (let turn = 1; turn <= 2; turn++) {
          await wire.roundTrips();
          const { result } = await editor.prompt(sessionId, PROMPT);
          most = Math.max(most, await wire.roundTrips());
          assertEquals(result.stopReason, "end_turn");
          await wire.rest();
        }
        return most;
      };

      await assertRoundTrips(3, takeTurns);
    },
  });

  Deno.test({
    name:
      `${version}: a turn takes four round trips without a connection ahead`,
    ignore,
    async fn() {
      await using wire = await Wire.start({ roundTrip: ROUND_TRIP });
      const place = { address: wire.address, startedBy: wire.service };
      await using service = await startService(protocol, place);
      await assertRoundTrips(4, async () => {
        let roundTrips = Promise.resolve(NaN);
        await wire.roundTrips();
        await takeTurn(service, wire.client, () => {
          roundTrips = wire.roundTrips();
        });
        const count = await roundTrips;
        await wire.rest();
        return count;
      });
    },
  });
}

Deno.test({
  name: "a turn works where loopback does not",
  ignore,
  async fn() {
    await using wire = await Wire.start({ roundTrip: 0 });
    const place = { address: wire.address, startedBy: wire.service };
    await using service = await startService("https", place);
    const script = 'ip link set lo down && exec "$@"';
    await takeTurn(service, [...wire.client, "sh", "-c", script, "sh"]);
  },
});

Deno.test({
  name:
    "a prompt to a host that drops packets did not run, and the time limit says so",
  ignore,
  async fn() {
    await using wire = await Wire.start({ roundTrip: 0 });
    const { code, stderr } = await runClient({
      args: ["--thread", "t", "--timeout", "8", "-p", PROMPT],
      env: settings({ url: "https://10.77.0.99" }),
      startedBy: wire.client,
    });

    assertMatch(stderr, /cannot be reached \(it does not answer\)/);
    assertMatch(stderr, /The prompt did not run/);
    assertEquals(code, 3);
  },
});
