import { assertEquals } from "@std/assert";
import { Client, isNewDeno, settings } from "../support/client_process.ts";
import { hang } from "../support/service/behaviours.ts";
import { ReferenceService } from "../support/service/service.ts";

// What each fate exits with is in fault_matrix_test.ts, and that a run of the bridge
// is dropped in bridge_life_cycle_test.ts.

const ignore = Deno.build.os === "windows";

const SIGNALS: readonly (readonly [Deno.Signal, number])[] = [
  ...[["SIGHUP", 129], ["SIGINT", 130], ["SIGQUIT", 131]] as const,
  ["SIGTERM", 143],
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
        // A shell ends its loop only after the signal itself. SIGQUIT writes a core.
        const isKilled = canKillItself && signal !== "SIGQUIT";
        const status = await client.status;
        assertEquals(status.signal, isKilled ? signal : null);
      },
    });
  }
}
