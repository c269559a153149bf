import { assertEquals, assertMatch } from "@std/assert";
import { runClient, settings } from "../support/client_process.ts";
import { answer, events, progress } from "../support/service/behaviours.ts";
import { ReferenceService } from "../support/service/service.ts";

/** The answer of a service that is busy for an hour. */
const BUSY = answer(429, "", { "retry-after": "3600" });

for (const isPiped of [false, true]) {
  Deno.test(`a call whose second prompt did not run exits with 5, not with 3: the first one ran, ${isPiped ? "piped" : "-p"}`, async () => {
    await using service = ReferenceService.start();
    service.misbehave("create run", (_, { normal }) => normal());
    service.misbehave("create run", BUSY);
    const { code, stderr } = await runClient({
      args: isPiped ? ["-q"] : ["-q", "-p", "one", "-p", "two"],
      env: settings(service),
      stdin: isPiped ? "one\ntwo\n" : "",
    });
    assertEquals(code, 5);
    assertMatch(stderr, /agent-gateway: error: Prompt 2 on thread \S+/);
  });
}

Deno.test({
  name:
    "--timeout holds although nobody reads standard output: what cannot be written is dropped",
  ignore: Deno.build.os === "windows", // It has no FIFOs.
  async fn() {
    await using service = ReferenceService.start();
    const endless = events(function* () {
      for (;;) yield progress("x".repeat(10_000), "y");
    });
    service.misbehave("stream", endless);
    const unread =
      'f=$(mktemp -u); mkfifo "$f"; exec 3<>"$f"; rm "$f"; "$@" >&3';
    const { code } = await runClient({
      args: ["--json", "--timeout", "5", "-p", "hello"],
      env: settings(service),
      startedBy: ["sh", "-c", unread, "sh"],
    });
    assertEquals(code, 5);
  },
});
