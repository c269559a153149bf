import { escapeControls } from "./json.ts";

const MAX_LENGTH = 200;

/** A foreign word in quotes, made safe and short enough for an error message. */
export function quote(word: string): string {
  const shown = word.length > MAX_LENGTH
    ? `${word.slice(0, MAX_LENGTH)}...`
    : word;
  return escapeControls(JSON.stringify(shown));
}
