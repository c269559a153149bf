/**
 * Finds texts in JSON whose shape is not known: replies and reasons of services
 * that are built on many libraries.
 *
 * @module
 */

import { isJsonObject } from "./json.ts";

/** How deep a text may be nested: deeper JSON would exhaust the stack. */
const MAX_DEPTH = 8;

/** The fields of a JSON object by their names in lower case, without `_`. */
export type Fields = ReadonlyMap<string, unknown>;

/**
 * The fields of a JSON object; none of any other value. Libraries write the same
 * name in several ways: `instructorState`, `InstructorState`, `instructor_state`.
 */
export function fieldsOf(value: unknown): Fields {
  const fields = new Map<string, unknown>();
  if (!isJsonObject(value)) return fields;
  for (const [name, field] of Object.entries(value)) {
    fields.set(name.toLowerCase().replaceAll("_", ""), field);
  }
  return fields;
}

export interface TextInOptions {
  /** The fields of an object that may hold its text, in their order, as {@linkcode Fields} name them. */
  readonly names: readonly string[];
  /** Put between the texts of a list. */
  readonly separator: string;
  /** Whether an object may hold text. By default each may. */
  readonly accepts?: (fields: Fields) => boolean;
  /** The levels of nested values that are looked at. The default is 8. */
  readonly depth?: number;
}

/**
 * The text that a JSON value holds: a string itself; the texts of a list, joined;
 * of an object that of the first field that has one. Blank texts count as none.
 *
 * @returns The text, unchanged; empty if there is none.
 */
export function textIn(value: unknown, options: TextInOptions): string {
  const { names, separator, accepts, depth = MAX_DEPTH } = options;
  if (typeof value === "string") return value;
  if (depth === 0) return "";
  const read = (part: unknown) =>
    textIn(part, { ...options, depth: depth - 1 });
  if (Array.isArray(value)) {
    return value.map(read).filter((text) => text !== "").join(separator);
  }
  if (!isJsonObject(value)) return ""; // A field that is not there has no fields.
  const fields = fieldsOf(value);
  if (accepts?.(fields) === false) return "";
  for (const name of names) {
    const text = read(fields.get(name));
    if (text.trim() !== "") return text;
  }
  return "";
}
