import { wholeCharacters } from "./foreign_text.ts";
import type { ServiceId } from "./safe_text.ts";

/**
 * Whether a text can be the id of a thread or a run: 1 to 1,024 bytes of UTF-8.
 * `.` and `..` cannot, because no encoding protects them in a path. Nor can a text with
 * U+FFFD, which stands for what was not a character, or with half of one.
 */
export function isServiceId(id: string): id is ServiceId {
  return id.length <= 1024 && !wholeCharacters(id).includes("\ufffd") &&
    !/^\.{0,2}$/.test(id) &&
    new TextEncoder().encode(id).length <= 1024;
}
