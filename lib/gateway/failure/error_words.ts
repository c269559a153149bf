/**
 * Finds the service's own words about a failure.
 *
 * @module
 */

import { isJsonObject, textIn } from "../../text.ts";

/** The fields that services put the reason of a failure into, in their order. */
const REASONS = {
  names: [
    ...["message", "error", "detail", "errors", "title"],
    "errortext", // AI SDK
    "msg", // an entry of FastAPI's `detail`
    "data", // the payload of an event
  ],
  separator: ", ",
};

/** The reason that a JSON value gives for a failure; `undefined` if it gives none. */
export function errorDetail(body: unknown): string | undefined {
  const text = isJsonObject(body) ? textIn(body, REASONS) : "";
  return text === "" ? undefined : text;
}
