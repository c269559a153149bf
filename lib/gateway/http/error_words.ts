import { isJsonObject, type JsonObject } from "../../text.ts";

/** The fields that services put the reason of a failure into, in their order. */
const NAMES = [
  ...["message", "Message", "error", "detail", "errors", "violations"],
  ...["issues", "description", "title", "msg"],
];

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
  const specific = fieldErrors(value.errors, depth) || oauthWords(value);
  if (specific !== "") return specific;
  for (const name of NAMES) {
    const words = wordsIn(value[name], depth - 1);
    if (words !== "") return placeOf(value) + words;
  }
  return "";
}

/**
 * The first sentence about each field of a request that was refused: "prompt: The field
 * is required". ASP.NET, Laravel, Rails and others send them as an object of lists,
 * marshmallow as one for each part of the request.
 */
function fieldErrors(errors: unknown, depth: number): string {
  if (depth === 0 || !isJsonObject(errors)) return "";
  const sentences = Object.entries(errors).map(([name, value]) => {
    const [first] = Array.isArray(value) ? value : [];
    return typeof first === "string"
      ? `${name}: ${first.replace(/\.$/, "")}`
      : fieldErrors(value, depth - 1);
  });
  return sentences.filter((sentence) => sentence !== "").join(", ");
}

/** An error of OAuth with its description (RFC 6749 and 6750). */
function oauthWords({ error, error_description: words }: JsonObject): string {
  if (typeof words !== "string") return "";
  return typeof error === "string" ? `${error}: ${words}` : words;
}

/** The field that an entry of a list is about: "user_id: ". */
function placeOf({ loc, path, field }: JsonObject): string {
  const place = [loc, path, field].find((it) =>
    Array.isArray(it) || typeof it === "string" && !it.startsWith("/")
  );
  const names = [place].flat().filter((part) =>
    typeof part === "string" && part !== "body" || typeof part === "number"
  );
  return names.length === 0 ? "" : `${names.join(".")}: `;
}
