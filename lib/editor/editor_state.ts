import { cursorAtEnd, type CursorText } from "./cursor_text.ts";

/** The most texts in the history, and the most changes that can be undone. */
const MAX_KEPT = 1_000;

/** The most UTF-16 code units in each of these two lists. */
const MAX_KEPT_LENGTH = 64 * 1024 * 1024;

export interface Search {
  readonly query: string;
  readonly isFound: boolean;
  /** The state before the search, restored when the search is cancelled. */
  readonly before: EditorState;
}

export interface EditorState {
  readonly typed: CursorText;
  readonly history: readonly string[];
  /** The history with its edits, and the new text at the end. */
  readonly entries: readonly string[];
  readonly entry: number;
  readonly search: Search | undefined;
  readonly killed: string;
  readonly undo: readonly CursorText[];
  /** The effect of the last key, if the next key can continue it. */
  readonly last: "type" | "paste" | "erase" | "kill" | "other";
  /** The column that Up and Down keep, in graphemes from the start of the line. */
  readonly goal: number | undefined;
  /** Whether text was refused because the text is too long. */
  readonly isTooLong: boolean;
}

export const NEW_STATE: EditorState = {
  typed: cursorAtEnd(""),
  history: [],
  entries: [""],
  entry: 0,
  search: undefined,
  killed: "",
  undo: [],
  last: "other",
  goal: undefined,
  isTooLong: false,
};

/** The editor after a change that the next key does not continue. */
export function settled(
  editor: EditorState,
  changes: Partial<EditorState>,
): EditorState {
  return { ...editor, last: "other", goal: undefined, ...changes };
}

/** The newest entries that fit the limits. */
export function newest<Entry>(
  entries: readonly Entry[],
  lengthOf: (entry: Entry) => number,
): readonly Entry[] {
  const kept = entries.slice(-MAX_KEPT);
  let length = 0;
  const lastDropped = kept.findLastIndex((entry) => {
    length += lengthOf(entry);
    return length > MAX_KEPT_LENGTH;
  });
  return kept.slice(lastDropped + 1);
}
