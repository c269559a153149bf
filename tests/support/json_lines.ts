import { assert, assertEquals, assertMatch } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import schema from "../../docs/events.schema.json" with { type: "json" };

/** One line of `--json`. */
export interface JsonLine {
  readonly type: "thread" | "run" | "progress" | "reply" | "error";
  readonly [field: string]: unknown;
}

const ajv = new Ajv2020({ allErrors: true });
const validate = ajv.compile<JsonLine>(schema);

/** The fields of each type. The schema lets later versions add more; this version has no others. */
const FIELDS = new Map(
  Object.entries(schema.$defs).map(([type, { properties }]) => [
    type,
    Object.keys(properties),
  ]),
);

/** The types that may follow a line's type. `start` is the start of the program. */
const FOLLOWS: Readonly<Record<string, string>> = {
  start: "thread error",
  thread: "run error",
  run: "progress reply error",
  progress: "progress reply error",
  reply: "run error",
  error: "run error",
};

/**
 * Parses the standard output of `--json`. Asserts that each line is valid by
 * `docs/events.schema.json`, that their order is the documented one, and that one
 * `reply` or `error` ends each prompt.
 *
 * @param isWhole Whether the program came to its end by itself.
 */
export function parseJsonLines(stdout: string, isWhole = true): JsonLine[] {
  const texts = stdout.split("\n");
  const rest = texts.pop();
  if (isWhole) assertEquals(rest, "", "the last line has no end");
  const lines: JsonLine[] = [];
  let last = "start";
  for (const text of texts) {
    // deno-lint-ignore no-control-regex -- asserts their absence
    assertMatch(text, /^[^\x00-\x1f\x7f-\x9f]+$/);
    const line: unknown = JSON.parse(text);
    assert(validate(line), `${text}: ${ajv.errorsText(validate.errors)}`);
    const unknown = Object.keys(line)
      .filter((field) => !FIELDS.get(line.type)?.includes(field));
    assertEquals(unknown, [], text);
    const follows = FOLLOWS[last]?.split(" ").includes(line.type);
    assert(follows, `${line.type} after ${last}: ${stdout.slice(0, 2000)}`);
    last = line.type;
    lines.push(line);
  }
  if (isWhole) assert(last !== "run" && last !== "progress", last);
  return lines;
}
