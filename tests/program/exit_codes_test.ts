import { assertEquals, assertFalse } from "@std/assert";
import { Client, isNewDeno, settings } from "../support/client_process.ts";
import { hang } from "../support/service/behaviours.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";

// What each fate exits with is in fault_matrix_test.ts, and that a run of the bridge
// is dropped in bridge_life_cycle_test.ts.

const ignore = Deno.build.os === "windows";

const SIGNALS: readonly (readonly [Deno.Signal, number])[] = [
  ...[["SIGHUP", 129], ["SIGINT", 130], ["SIGQUIT", 131]] as const,
  ...[["SIGTERM", 143], ["SIGUSR1", 138]] as const,
];

// Before Deno 2.9, a process may not signal itself.
const canKillItself = !ignore && await isNewDeno();

for (const [signal, code] of SIGNALS) {
  for (const operation of ["create thread", "stream"] as const) {
    Deno.test({
      name:
        `${signal} during "${operation}": interactive mode exits with ${code}, without a word, and drops it`,
      ignore,
      async fn() {
        await using service = ReferenceService.start();
        service.misbehave(operation, hang());
        const args = ["--quiet"];
        await using client = new Client({ args, env: settings(service) });
        await client.write("hello\n");
        const { ended } = await service.waitFor(operation);

        client.kill(signal);

        assertEquals(await client.output(), { code, stdout: "", stderr: "" });
        assertEquals(await ended, "dropped");
        // A shell ends its loop only after the signal itself. SIGQUIT writes a core, and
        // SIGUSR1 would open a debugger.
        const isKilled = canKillItself && /^SIG(?:HUP|INT|TERM)$/.test(signal);
        const status = await client.status;
        assertEquals(status.signal, isKilled ? signal : null);
      },
    });
  }
}

const INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n';

// A port of a debugger would be open until the program ends.
for (
  const [what, args, input, env] of [
    ["a bridge", ["--bridge"], INITIALIZE, { APP_API_KEY: TEST_KEY }],
    ["a bridge without a key", ["--bridge"], INITIALIZE, {}],
    ["a chat", [], "", { APP_API_KEY: TEST_KEY }],
    ["a check", ["--check"], "", { APP_API_KEY: TEST_KEY }],
  ] as const
) {
  Deno.test({
    name: `SIGUSR1 ends ${what} with 138, and opens no debugger`,
    ignore,
    async fn() {
      await using service = ReferenceService.start();
      service.misbehave("create thread", hang());
      await using client = new Client({
        args,
        env: { APP_BASE_URL: service.url, ...env },
        limit: 60_000, // with a debugger, it would not end
      });
      await client.write(input);
      if (input === "") await service.waitFor("create thread");
      else await client.stdout.waitFor('"id":1');

      client.kill("SIGUSR1");

      const { code, stderr } = await client.output();
      assertEquals(code, 138);
      assertFalse(/debugger/i.test(stderr), stderr);
    },
  });
}
