/**
 * Text from outside the program: cleaning it for a terminal, finding the key in
 * it, parsing it; and the styles of text on a terminal.
 *
 * @module
 */

export {
  escapeControls,
  holdsTooMuch,
  isJsonObject,
  MAX_SIGNS,
  parseJson,
} from "./text/json.ts";
export { type Fields, fieldsOf, textIn } from "./text/json_fields.ts";
export { holdsKey, maskKey } from "./text/key_redaction.ts";
export { plainLine, plainText, withoutLineEnd } from "./text/plain_text.ts";
export { quote } from "./text/quote.ts";
export { hashText } from "./text/hash_text.ts";
export { isServiceId } from "./text/service_id.ts";
export { shownText } from "./text/shown_text.ts";
export { COLOURED, PLAIN, type Style } from "./text/style.ts";
