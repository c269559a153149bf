/** A line of JSON with the text of its ids, because a number may lose digits. */
export interface Line {
  // deno-lint-ignore no-explicit-any -- a model may look anywhere
  readonly value: any;
  /** `undefined` if there is no id that an answer can have. */
  readonly id: string | undefined;
  readonly requestId: string | undefined;
}

/** Whether a value is a JSON object. */
export function isObject(
  value: unknown,
): value is Record<string, Line["value"]> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// TypeScript does not know the third argument of the reviver yet.
const parse = JSON.parse as (
  text: string,
  reviver: (
    this: unknown,
    key: string,
    value: unknown,
    context: { readonly source?: string },
  ) => unknown,
) => unknown;

/** Parses a line; `undefined` if it is not JSON. */
export function parseLine(text: string): Line | undefined {
  const sources = { id: new Map(), requestId: new Map() };
  try {
    const value = parse(text, function (key, value, { source }) {
      if (key === "id" || key === "requestId") sources[key].set(this, source);
      return value;
    });
    const params = isObject(value) ? value.params : undefined;
    return {
      value,
      id: canonical(sources.id.get(value)),
      requestId: canonical(sources.requestId.get(params)),
    };
  } catch {
    return undefined;
  }
}

/** An id as it comes back: the same value, and a 64-bit integer with all its digits. */
function canonical(source: string | undefined): string | undefined {
  if (source === undefined || /^-?\d{16,20}$/.test(source)) return source;
  const value = JSON.parse(source);
  const isId = typeof value === "string" || Number.isFinite(value) ||
    value === null;
  return isId ? JSON.stringify(value) : undefined;
}
