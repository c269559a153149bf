import { assert, assertEquals } from "@std/assert";
import { runClient, settings } from "../support/client_process.ts";
import { unreachable } from "../support/faulty_service.ts";
import { parseJsonLines } from "../support/json_lines.ts";
import {
  answer,
  type Behaviour,
  body,
  complete,
  events,
  hang,
  json,
  progress,
} from "../support/service/behaviours.ts";
import { promptsOf, ReferenceService } from "../support/service/service.ts";

/** Faults of a service at an operation, by the exit code and the fate that follow. */
const FAILURES: Readonly<
  Record<
    string,
    Readonly<
      Record<
        string,
        readonly ["create thread" | "create run" | "stream", ...Behaviour[]]
      >
    >
  >
> = {
  "3 not run": {
    "a thread is answered with 500": ["create thread", answer(500)],
    "a thread's answer breaks": [
      "create thread",
      body(["{"], { end: "break" }),
    ],
    "a thread is not answered in time": ["create thread", hang()],
    "a run is answered with 429": [
      "create run",
      answer(429, "", { "retry-after": "3600" }),
    ],
  },
  "4 refused": {
    "a thread is answered with 401": ["create thread", answer(401)],
    "a run is answered with 403": ["create run", answer(403)],
  },
  "1 refused": {
    "a run is answered with 422": ["create run", answer(422)],
  },
  "5 may have run": {
    "a run is answered with 500": ["create run", answer(500)],
    "a run's answer has no run_id": ["create run", json({})],
    "a stream is answered with 404": ["stream", answer(404)],
  },
  "5 may go on": {
    "a stream is answered with 401": ["stream", answer(401)],
    "a stream breaks": [
      "stream",
      events([progress("a", "")], { end: "break" }),
    ],
  },
  "1 failed": {
    "the run fails": ["stream", events([{ event: "error", message: "No" }])],
    "a stream that is resumed is answered with 404": [
      "stream",
      events([progress("a", "")], { firstId: 1, end: "break" }),
      answer(404),
    ],
  },
};

for (const [expected, failures] of Object.entries(FAILURES)) {
  for (const [what, [operation, ...behaviours]] of Object.entries(failures)) {
    Deno.test(`-p exits with ${expected} if ${what}`, async () => {
      await using service = ReferenceService.start();
      for (const behaviour of behaviours) {
        service.misbehave(operation, behaviour);
      }
      const env = settings(service);
      const args = ["--json", "-p", "hello", "-p", "never"];
      // The fate is the same whenever the time is over.
      if (what.endsWith("in time")) args.push("--timeout", "0.2");
      const { code, stdout } = await runClient({ args, env });
      const last = parseJsonLines(stdout).at(-1);
      assert(last?.type === "error");
      assertEquals(`${code} ${last.fate}`, expected);
      assert(promptsOf(service).length <= 1);
    });
  }
}

Deno.test("-p exits with 3 not run if nothing listens", async () => {
  const { code, stdout } = await runClient({
    args: ["--json", "-p", "hello"],
    env: settings({ url: unreachable() }),
  });
  const [error] = parseJsonLines(stdout);
  assert(error?.type === "error");
  assertEquals(`${code} ${error.fate}`, "3 not run");
});

Deno.test("at the end of piped input, the last prompt that failed decides; exit leaves with 0", async () => {
  for (
    const [input, expected] of [["a\nb\nc\n", 5], [
      "a\nb\nc\nexit\n",
      0,
    ]] as const
  ) {
    await using service = ReferenceService.start();
    service.misbehave("create run", answer(422));
    service.misbehave("create run", answer(500));
    service.misbehave("create run", json({ run_id: "r" }));
    service.misbehave("stream", events([complete("Done.")]));
    const { code, stdout } = await runClient({
      args: ["-q"],
      env: settings(service),
      stdin: input,
    });
    assertEquals([code, stdout], [expected, "Done.\n"]);
  }
});

Deno.test("docs/command-line.md has the codes and fates that the program has", async () => {
  const page = await Deno.readTextFile(
    `${import.meta.dirname}/../../docs/command-line.md`,
  );
  const rows = Array.from(
    page.matchAll(/^\| (\d) +\| `([a-z ]+)` +\|/gm),
    ([, code, fate]) => `${code} ${fate}`,
  );
  assertEquals(rows.toSorted(), Object.keys(FAILURES).toSorted());
});
