/**
 * W3C trace context of a prompt (https://www.w3.org/TR/trace-context/).
 *
 * @module
 */

import { isJsonObject } from "../text.ts";

/** The longest value that is accepted, in characters. */
const MAX_LENGTH = 512;

const MAX_MEMBERS = 32;

/**
 * The trace context in a request's `_meta` as HTTP headers (W3C Trace Context,
 * sections 3.2 and 3.3). Values that are malformed or longer than 512 characters
 * are dropped, as the recommendation asks; `tracestate` never travels without
 * `traceparent`.
 */
export function traceHeaders(meta: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(meta)) return {};
  const { traceparent, tracestate } = meta;
  if (typeof traceparent !== "string" || !isTraceparent(traceparent)) return {};
  if (typeof tracestate !== "string" || !isTracestate(tracestate)) {
    return { traceparent };
  }
  return { traceparent, tracestate };
}

// The length is checked first: the patterns below may take quadratic time.

function isTraceparent(value: string): boolean {
  if (value.length > MAX_LENGTH) return false;
  const fields =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[\x21-\x7e]*)?$/
      .exec(value);
  if (fields === null) return false;
  const [, version = "", traceId = "", parentId = "", more] = fields;
  return version !== "ff" && (version !== "00" || more === undefined) &&
    /[^0]/.test(traceId) && /[^0]/.test(parentId);
}

function isTracestate(value: string): boolean {
  if (value.length > MAX_LENGTH) return false;
  // Not trim(): it also removes characters that are invalid in a header.
  const members = value.split(",")
    .map((member) => member.replaceAll(/^[ \t]+|[ \t]+$/g, ""))
    .filter((member) => member !== "");
  const keys = members.map((member) => member.split("=", 1)[0]);
  return members.length > 0 && members.length <= MAX_MEMBERS &&
    new Set(keys).size === keys.length &&
    members.every((member) =>
      /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/
        .test(member)
    );
}
