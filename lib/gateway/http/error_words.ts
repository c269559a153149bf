import { isJsonObject } from "../../text.ts";

/** The fields that services put the reason of a failure into, in their order. */
const NAMES = ["message", "error", "detail", "errors", "title", "msg"];

/** How deep the reason may be nested: deeper JSON would exhaust the stack. */
const MAX_DEPTH = 8;

/** The reason that a JSON value gives for a failure; `undefined` if it gives none. */
export function errorDetail(body: unknown): string | undefined {
  const words = isJsonObject(body) ? wordsIn(body, MAX_DEPTH) : "";
  return words === "" ? undefined : words;
}

function wordsIn(value: unknown, depth: number): string {
  if (typeof value === "string") return value.trim() === "" ? "" : value;
  if (depth === 0) return "";
  if (Array.isArray(value)) {
    return value.map((entry) => wordsIn(entry, depth - 1))
      .filter((words) => words !== "").join(", ");
  }
  if (!isJsonObject(value)) return "";
  for (const name of NAMES) {
    const words = wordsIn(value[name], depth - 1);
    if (words !== "") return placeOf(value) + words;
  }
  return "";
}

/** The field that an entry of FastAPI's `detail` is about: "user_id: ". */
function placeOf({ loc }: Readonly<Record<string, unknown>>): string {
  if (!Array.isArray(loc)) return "";
  const path = loc.filter((part) => part !== "body").join(".");
  return path === "" ? "" : `${path}: `;
}
