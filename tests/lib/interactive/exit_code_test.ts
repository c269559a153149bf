import { assertEquals } from "@std/assert";
import { ExitCode } from "../../../lib/interactive/exit_code.ts";

/** What may become of a prompt, and its status, if there is one. */
const FAILURES = {
  "ran": undefined,
  "may have run": { fate: "may have run" },
  "may go on": { fate: "may go on" },
  "failed": { fate: "failed" },
  "refused": { fate: "refused", status: 400 },
  "key": { fate: "refused", status: 401 },
  "busy": { fate: "not run", status: 429 },
  "no connection": { fate: "not run" },
} as const;
type Name = keyof typeof FAILURES;
const NAMES = Object.keys(FAILURES) as Name[];

/** The code of a prompt, and of those two with each other one, in order, as the second. */
const CODES: Readonly<Record<Name, string>> = {
  "ran": "0: 0 5 5 1 1 5 5 5",
  "may have run": "5: 5 5 5 5 5 5 5 5",
  "may go on": "5: 5 5 5 5 5 5 5 5",
  "failed": "1: 1 5 5 1 1 5 5 5",
  "refused": "1: 1 5 5 1 1 4 3 3",
  "key": "4: 5 5 5 1 1 4 3 3",
  "busy": "3: 5 5 5 1 1 4 3 3",
  "no connection": "3: 5 5 5 1 1 4 3 3",
};

/** The exit code of a call with these prompts. */
function codeOf(...names: readonly Name[]): number {
  const code = new ExitCode();
  for (const name of names) {
    const failure = FAILURES[name];
    if (failure === undefined) code.complete();
    else code.fail(failure);
  }
  return code.value;
}

Deno.test("the exit code of one prompt, and of each pair, says 3 or 4 only if nothing of the call was started", () => {
  for (const first of NAMES) {
    const pairs = NAMES.map((second) => codeOf(first, second));
    assertEquals(`${codeOf(first)}: ${pairs.join(" ")}`, CODES[first], first);
    assertEquals(codeOf("ran", "busy", first, "refused"), 5); // stays 5
  }
});
