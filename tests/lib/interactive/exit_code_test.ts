import { assertEquals } from "@std/assert";
import type { Fate } from "../../../lib/gateway.ts";
import { ExitCode } from "../../../lib/interactive/exit_code.ts";

interface Outcome {
  readonly fate: Fate;
  readonly status?: number;
}

/** What may become of a prompt, and the exit code of a call with this prompt alone. */
const OUTCOMES = {
  "ran": [undefined, 0],
  "may have run": [{ fate: "may have run" }, 5],
  "may go on": [{ fate: "may go on" }, 5],
  "failed": [{ fate: "failed" }, 1],
  "refused": [{ fate: "refused", status: 400 }, 1],
  "key": [{ fate: "refused", status: 401 }, 4],
  "busy": [{ fate: "not run", status: 429 }, 3],
  "no connection": [{ fate: "not run" }, 3],
} as const satisfies Record<string, readonly [Outcome | undefined, number]>;

/** The codes of two prompts: a row for the first one, and in it the second ones in order. */
const PAIRS = {
  "ran": [0, 5, 5, 1, 1, 5, 5, 5],
  "may have run": [5, 5, 5, 5, 5, 5, 5, 5],
  "may go on": [5, 5, 5, 5, 5, 5, 5, 5],
  "failed": [1, 5, 5, 1, 1, 5, 5, 5],
  "refused": [1, 5, 5, 1, 1, 4, 3, 3],
  "key": [5, 5, 5, 1, 1, 4, 3, 3],
  "busy": [5, 5, 5, 1, 1, 4, 3, 3],
  "no connection": [5, 5, 5, 1, 1, 4, 3, 3],
} as const;

/** The exit code of a call with these prompts. */
function codeOf(...names: readonly (keyof typeof OUTCOMES)[]): number {
  const code = new ExitCode();
  for (const name of names) {
    const [failure] = OUTCOMES[name];
    if (failure === undefined) code.complete();
    else code.fail(failure);
  }
  return code.value;
}

const NAMES = Object.keys(OUTCOMES) as (keyof typeof OUTCOMES)[];

Deno.test("the exit code of one prompt, and of each pair, says 3 or 4 only if nothing of the call was started", () => {
  for (const first of NAMES) {
    assertEquals(codeOf(first), OUTCOMES[first][1], first);
    const row = NAMES.map((second) => codeOf(first, second));
    assertEquals(row, [...PAIRS[first]], first);
  }
});

Deno.test("a 5 stays 5 whatever comes after it", () => {
  for (const name of NAMES) {
    assertEquals(codeOf("ran", "busy", name, "refused"), 5);
  }
});
