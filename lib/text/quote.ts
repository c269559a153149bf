import { shorten } from "./foreign_text.ts";
import { escapeControls } from "./json.ts";

const MAX_LENGTH = 200;

/** A foreign word in quotes, made safe and short enough for an error message. */
export function quote(word: string): string {
  const start = shorten(word, MAX_LENGTH);
  const shown = start === word ? word : `${start}...`;
  return escapeControls(JSON.stringify(shown));
}
