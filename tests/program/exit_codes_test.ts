import { assertEquals } from "@std/assert";
import { Client, settings } from "../support/client_process.ts";
import { hang } from "../support/service/behaviours.ts";
import { ReferenceService } from "../support/service/service.ts";

// That a run of the bridge is dropped is in bridge_life_cycle_test.ts. `Client`
// asserts that no signal ends the program by itself.

const ignore = Deno.build.os === "windows";

const SIGNALS: readonly (readonly [Deno.Signal, number])[] = [
  ...[["SIGHUP", 129], ["SIGINT", 130], ["SIGQUIT", 131]] as const,
  ["SIGTERM", 143],
];

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
      },
    });
  }
}
