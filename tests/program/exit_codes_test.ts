import { assertEquals } from "@std/assert";
import { Client, settings } from "../support/client_process.ts";
import { hang } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { ReferenceService } from "../support/service/service.ts";

// That a run of the bridge is dropped is in bridge_life_cycle_test.ts. `Client`
// asserts that no signal ends the program by itself.

const ignore = Deno.build.os === "windows";

const SIGNALS: readonly (readonly [Deno.Signal, number])[] = [
  ...[["SIGHUP", 129], ["SIGINT", 130], ["SIGQUIT", 131]] as const,
  ["SIGTERM", 143],
];

for (const [signal, code] of SIGNALS) {
  for (const isCreated of [false, true]) {
    const when = isCreated ? "after" : "while";
    Deno.test({
      name:
        `${signal} ${when} a thread is created: interactive mode exits with ${code}, without a word`,
      ignore,
      async fn() {
        await using service = ReferenceService.start();
        if (!isCreated) service.misbehave("create thread", hang());
        const args = ["--quiet"];
        await using client = new Client({ args, env: settings(service) });
        const { ended } = await service.waitFor("create thread");
        if (isCreated) await ended;

        client.kill(signal);

        const output = await client.output();
        assertEquals([output.code, output.stderr], [code, ""]);
      },
    });
  }

  Deno.test({
    name:
      `${signal} during a run with piped input: interactive mode exits with ${code}, the stream is dropped`,
    ignore,
    async fn() {
      await using service = ReferenceService.start();
      const gate = new GatedStream();
      service.misbehave("stream", gate.behaviour);
      await using client = new Client({
        args: ["--quiet"],
        env: settings(service),
      });
      await client.write("hello\n");
      await gate.opened;

      client.kill(signal);

      assertEquals(await client.output(), { code, stdout: "", stderr: "" });
      await gate.dropped;
    },
  });
}
