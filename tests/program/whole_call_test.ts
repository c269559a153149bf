import { assert, assertEquals, assertMatch } from "@std/assert";
import { runClient, settings } from "../support/client_process.ts";
import {
  answer,
  type Behaviour,
  complete,
  events,
  progress,
} from "../support/service/behaviours.ts";
import { ReferenceService } from "../support/service/service.ts";

/** How the service answers `create run`, and the stream of the run that it creates. */
type Outcome = readonly [create: Behaviour | undefined, stream?: Behaviour];

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  "ran": [undefined, events([complete("Done.")])],
  "may have run": [answer(500)],
  "may go on": [undefined, events([progress("a", "")])],
  "failed": [undefined, events([{ event: "error" }])],
  "refused": [answer(400)],
  "key": [answer(401)],
  "busy": [answer(429, "", { "retry-after": "3600" })],
};

/** The exit codes of two lines of piped input: a row for the first one. */
const CODES: Readonly<Record<string, readonly number[]>> = {
  "ran": [0, 5, 5, 1, 1, 5, 5],
  "may have run": [5, 5, 5, 5, 5, 5, 5],
  "may go on": [5, 5, 5, 5, 5, 5, 5],
  "failed": [1, 5, 5, 1, 1, 5, 5],
  "refused": [1, 5, 5, 1, 1, 4, 3],
  "key": [5, 5, 5, 1, 1, 4, 3],
  "busy": [5, 5, 5, 1, 1, 4, 3],
};

/** Runs two prompts whose outcomes are these. */
async function runPair(first: string, second: string, isPiped: boolean) {
  await using service = ReferenceService.start();
  for (const name of [first, second]) {
    const [create, stream] = OUTCOMES[name] ?? [undefined];
    service.misbehave("create run", create ?? ((_, { normal }) => normal()));
    if (stream !== undefined) service.misbehave("stream", stream);
  }
  const args = isPiped ? ["-q"] : ["-q", "-p", "one", "-p", "two"];
  const stdin = isPiped ? "one\ntwo\n" : "";
  const output = await runClient({ args, env: settings(service), stdin });
  const runs = service.requests.filter(({ operation }) =>
    operation === "stream"
  );
  return { ...output, runs: runs.length };
}

for (const first of Object.keys(OUTCOMES)) {
  Deno.test(`a call whose first prompt is "${first}" exits with a code about all of its prompts`, async () => {
    const names = Object.keys(OUTCOMES);
    const piped = await Promise.all(
      names.map((second) => runPair(first, second, true)),
    );
    assertEquals(piped.map(({ code }) => code), CODES[first]);
    for (const { code, runs } of piped) {
      assert(runs === 0 || code < 3 || code > 4);
    }

    // With -p, the first failure ends the call.
    const [alone = -1] = CODES[first] ?? [];
    const given = await runPair(first, "busy", false);
    const expected = { ran: 5, key: 4, busy: 3 }[first] ?? alone;
    assertEquals(given.code, expected);
    const place = first === "ran" ? "Prompt 2 on thread \\S+" : "Prompt 1";
    assertMatch(given.stderr, new RegExp(`agent-gateway: error: ${place}`));
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
      args: ["--json", "--timeout", "1", "-p", "hello"],
      env: settings(service),
      startedBy: ["sh", "-c", unread, "sh"],
    });
    assertEquals(code, 5);
  },
});
