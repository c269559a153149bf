import { assert, assertEquals, assertMatch } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import schema from "../../docs/events.schema.json" with { type: "json" };

/** One line of `--json`. */
export interface JsonLine {
  readonly type: string;
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
  let isRunning = false;
  for (const [index, text] of texts.entries()) {
    // deno-lint-ignore no-control-regex -- asserts their absence
    assertMatch(text, /^[^\x00-\x1f\x7f-\x9f]+$/);
    const line: unknown = JSON.parse(text);
    assert(validate(line), `${text}: ${ajv.errorsText(validate.errors)}`);
    const { type } = line;
    const unknown = Object.keys(line)
      .filter((field) => !FIELDS.get(type)?.includes(field));
    assertEquals(unknown, [], text);
    const about = `${type}: ${stdout.slice(0, 2000)}`;
    switch (type) {
      case "thread":
        assertEquals(index, 0, about);
        break;
      case "run":
        assert(index > 0 && !isRunning, about);
        isRunning = true;
        break;
      case "error":
        isRunning = false;
        break;
      default:
        assert(isRunning, about);
        isRunning = type !== "reply";
    }
    lines.push(line);
  }
  if (isWhole) assert(!isRunning, "the last prompt has no end");
  return lines;
}
