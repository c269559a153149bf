import { isJsonObject, type JsonObject } from "../../text.ts";

/** The fields that services put the reason of a failure into, in their order. */
const NAMES = [
  ...["_embedded", "message", "Message", "error", "detail", "errors"],
  ...["description", "title", "msg", "defaultMessage"],
];

/** Lists of what is wrong in a request, which say more than a sentence about them all. */
const LISTS = ["errors", "violations", "issues", "extra"];

/** The fields that say which part of a request an entry of such a list is about. */
const PLACES = ["loc", "path", "field", "key", "propertyPath"];

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
  const list = listedWords(value, depth);
  if (list !== "") return list;
  for (const name of NAMES) {
    const words = wordsIn(value[name], depth - 1);
    if (words !== "") return placeOf(value) + words + descriptionOf(value);
  }
  return "";
}

/** The words of a list of what is wrong in a request. */
function listedWords(value: JsonObject, depth: number): string {
  for (const list of LISTS.map((name) => value[name])) {
    const isList = Array.isArray(list) && list.every(isJsonObject);
    const words = isList ? wordsIn(list, depth - 1) : fieldErrors(list, depth);
    if (words !== "") return words;
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

/** What OAuth's errors have besides a code (RFC 6749 and 6750): ": The key expired". */
function descriptionOf({ error_description: words }: JsonObject): string {
  return typeof words === "string" ? `: ${words}` : "";
}

/** The part of the request that an entry of a list is about: "user_id: ". */
function placeOf(entry: JsonObject): string {
  const place = PLACES.map((name) => entry[name]).find((it) =>
    Array.isArray(it) || typeof it === "string" && !it.startsWith("/")
  );
  const names = [place].flat().filter((part) =>
    typeof part === "string" && part !== "body" || typeof part === "number"
  );
  return names.length === 0 ? "" : `${names.join(".")}: `;
}
