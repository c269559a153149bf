/**
 * Whether a text can be the id of a thread or a run: 1 to 1,024 bytes of UTF-8.
 * `.` and `..` cannot, because no encoding protects them in a path. Nor can a text with
 * U+FFFD, which stands for what was not a character.
 */
export function isServiceId(id: string): boolean {
  return id.length <= 1024 && !id.includes("\ufffd") && !/^\.{0,2}$/.test(id) &&
    new TextEncoder().encode(id).length <= 1024;
}
