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

/** The fields of each type: the schema lets later versions add more, this one has none. */
const FIELDS = new Map(
  Object.entries(schema.$defs).map(([type, { properties }]) => [
    type,
    Object.keys(properties),
  ]),
);

/** What may follow a line. The start is that of the program. */
const FOLLOWS: Readonly<Record<string, string>> = {
  start: "thread error",
  thread: "run error",
  run: "progress reply error",
  progress: "progress reply error",
  reply: "run error",
  error: "run error",
};

/**
 * The lines of a standard output with `--json`. Each is valid by
 * `docs/events.schema.json`, they follow each other as it says, and each prompt is
 * ended by one `reply` or `error`.
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
    // deno-lint-ignore no-control-regex -- they may not be there
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
