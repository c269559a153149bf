export { byteLength, containsNul, shorten } from "./text/foreign_text.ts";
export {
  counted,
  duration,
  seconds,
  size,
  utc,
  wholeDuration,
} from "./text/amounts.ts";
export {
  escapeControls,
  escapeLineEnds,
  holdsTooMuch,
  isJsonObject,
  jsonLine,
  type JsonObject,
  type LineInParts,
  MAX_SIGNS,
  membersOf,
  parseJson,
  SHORT_JSON,
} from "./text/json.ts";
export { maskKey } from "./text/mask_key.ts";
export { plainLine, withoutLineEnd } from "./text/plain_text.ts";
export { KEYLESS, MAX_SHOWN_BYTES, Redactor } from "./text/redactor.ts";
export {
  isServiceId,
  joinSafe,
  type Redacted,
  safe,
  type ServiceId,
  type Unchanged,
  unchanged,
} from "./text/safe_text.ts";
export { withoutCommands } from "./text/runner_commands.ts";
export {
  quotedForShell,
  type Shown,
  shown,
  shownLine,
  shownReply,
} from "./text/shown.ts";
export { COLOURED, PLAIN, type Style } from "./text/style.ts";
