/**
 * The effect of keys on a text, as a pure function of the editor's state.
 *
 * @module
 */

import { MAX_LINE_BYTES } from "../io.ts";
import {
  bigWordLeft,
  type CursorText,
  deleteTo,
  EMPTY,
  insert,
  left,
  lineEnd,
  lineStart,
  right,
  textOf,
  transpose,
  verticalMove,
  wordLeft,
  wordRight,
} from "./cursor_text.ts";
import type { Key } from "./keys.ts";

/** The most texts in the history, and their most UTF-16 code units in total. */
const HISTORY_LIMITS = { entries: 1_000, length: 64 * 1024 * 1024 };

/** The most states that can be undone, and their most UTF-16 code units in total. */
const UNDO_LIMITS = { entries: 500, length: 64 * 1024 * 1024 };

/** The longest text, in UTF-16 code units. Further text is refused. */
export const MAX_TEXT_LENGTH = MAX_LINE_BYTES;

/** A search through the history. */
export interface Search {
  readonly query: string;
  /** Whether the shown text contains the query. */
  readonly isFound: boolean;
  /** The text before the search, restored when the search is cancelled. */
  readonly before: Pick<EditorState, "typed" | "entries" | "entry">;
}

/** The editor's state. */
export interface EditorState {
  readonly typed: CursorText;
  /** Texts that were sent, oldest first. */
  readonly history: readonly string[];
  /** The history with its edits, and the new text at the end. */
  readonly entries: readonly string[];
  /** The index of the shown entry. */
  readonly entry: number;
  readonly search: Search | undefined;
  /** The text that Ctrl-Y inserts. */
  readonly killed: string;
  readonly undo: readonly CursorText[];
  /** The effect of the last key, if the next key can continue it. */
  readonly last: "type" | "paste" | "erase" | "kill" | "other";
  /** The column that Up and Down keep, in graphemes from the start of the line. */
  readonly goal: number | undefined;
  /** Whether text was refused because the text is too long. */
  readonly isTooLong: boolean;
}

/** What a key does, other than changing the text. */
export type Action = "send" | "end" | "clear screen";

/** The result of a key. */
export interface Pressed {
  readonly editor: EditorState;
  readonly action?: Action;
}

/** An empty editor. */
export const NEW_STATE: EditorState = {
  typed: EMPTY,
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

/** Applies a key. Unassigned keys change nothing. */
export function pressKey(editor: EditorState, key: Key): Pressed {
  if (editor.search !== undefined) return searchKey(editor, editor.search, key);
  if (key.kind === "paste") return done(paste(editor, key));
  if (key.kind === "text") return done(type(editor, key.text));
  const command = COMMANDS[key.name];
  return command === undefined ? { editor } : command(editor);
}

/** Moves the text from the editor to its history. */
export function takeText(
  editor: EditorState,
): { readonly text: string; readonly editor: EditorState } {
  const { text } = editor.typed;
  const isKept = text.trim() !== "" && text !== editor.history.at(-1) &&
    !editor.isTooLong;
  const history = isKept
    ? within(HISTORY_LIMITS, [...editor.history, text], (entry) => entry.length)
    : editor.history;
  return {
    text,
    editor: {
      ...NEW_STATE,
      history,
      entries: [...history, ""],
      entry: history.length,
      killed: editor.killed,
    },
  };
}

type Command = (editor: EditorState) => Pressed;

const COMMANDS: Readonly<Record<string, Command>> = {
  "enter": (editor) => ({ editor, action: "send" }),
  "ctrl-j": newLine,
  "alt-enter": newLine,
  "ctrl-enter": newLine,
  "shift-enter": newLine,

  "left": move(left),
  "right": move(right),
  "ctrl-b": move(left),
  "ctrl-f": move(right),
  "ctrl-left": move(wordLeft),
  "ctrl-right": move(wordRight),
  "alt-left": move(wordLeft),
  "alt-right": move(wordRight),
  "alt-b": move(wordLeft),
  "alt-f": move(wordRight),
  "home": move(lineStart),
  "end": move(lineEnd),
  "ctrl-a": move(lineStart),
  "ctrl-e": move(lineEnd),
  "ctrl-home": move(() => 0),
  "ctrl-end": move(({ text }) => text.length),

  "backspace": erase(left),
  "delete": erase(right),
  "ctrl-d": (editor) =>
    editor.typed.text === "" ? { editor, action: "end" } : erase(right)(editor),
  "ctrl-k": kill(toLineEnd),
  "ctrl-u": kill(toLineStart),
  "ctrl-w": kill(bigWordLeft),
  "alt-backspace": kill(wordLeft),
  "ctrl-backspace": kill(wordLeft),
  "alt-d": kill(wordRight),
  "ctrl-delete": kill(wordRight),
  "ctrl-y": (editor) => done(edit(editor, put(editor, editor.killed))),
  "ctrl-t": (editor) => done(edit(editor, transpose(editor.typed))),
  "ctrl-_": undo,

  "up": vertical("up"),
  "down": vertical("down"),
  "ctrl-p": vertical("up"),
  "ctrl-n": vertical("down"),
  "ctrl-r": startSearch,
  "ctrl-l": (editor) => ({ editor, action: "clear screen" }),
};

function done(editor: EditorState): Pressed {
  return { editor };
}

/** A key that moves the cursor. */
function move(target: (typed: CursorText) => number): Command {
  return (editor) => {
    const cursor = target(editor.typed);
    return done({
      ...editor,
      typed: { ...editor.typed, cursor },
      last: "other",
      goal: undefined,
    });
  };
}

/** A key that deletes up to an offset. */
function erase(target: (typed: CursorText) => number): Command {
  return (editor) => {
    const { typed } = editor;
    return done(edit(editor, deleteTo(typed, target(typed)), "erase"));
  };
}

/** A key that deletes up to an offset, and keeps the text for Ctrl-Y. */
function kill(target: (typed: CursorText) => number): Command {
  return (editor) => {
    const { typed } = editor;
    const offset = target(typed);
    if (offset === typed.cursor) return { editor };
    const isBefore = offset < typed.cursor;
    const text = isBefore
      ? typed.text.slice(offset, typed.cursor)
      : typed.text.slice(typed.cursor, offset);
    const earlier = editor.last === "kill" ? editor.killed : "";
    return done({
      ...edit(editor, deleteTo(typed, offset)),
      killed: isBefore ? text + earlier : earlier + text,
      last: "kill",
    });
  };
}

function toLineEnd(typed: CursorText): number {
  const end = lineEnd(typed);
  return end === typed.cursor ? right(typed) : end;
}

function toLineStart(typed: CursorText): number {
  const start = lineStart(typed);
  return start === typed.cursor ? left(typed) : start;
}

function newLine(editor: EditorState): Pressed {
  return done(edit(editor, put(editor, "\n")));
}

function type(editor: EditorState, text: string): EditorState {
  // One undo removes a word and the space before it.
  const isWord = !/^\s/.test(text) || editor.last !== "type";
  return edit(editor, put(editor, text), isWord ? "type" : "other", "type");
}

function paste(
  editor: EditorState,
  { text, isContinued }: Extract<Key, { kind: "paste" }>,
): EditorState {
  const changed = put(editor, text);
  return isContinued
    ? edit(editor, changed, "paste")
    : edit(editor, changed, "other", "paste");
}

/** Inserts a text, or changes nothing if the text would be too long. */
function put({ typed }: EditorState, text: string): CursorText | undefined {
  return typed.text.length + text.length > MAX_TEXT_LENGTH
    ? undefined
    : insert(typed, text);
}

/**
 * Makes a change. It is undone together with the last change if that was of the
 * same kind, else alone.
 */
function edit(
  editor: EditorState,
  changed: CursorText | undefined,
  kind: EditorState["last"] = "other",
  last: EditorState["last"] = kind,
): EditorState {
  if (changed === undefined) return { ...editor, isTooLong: true };
  const isContinued = kind !== "other" && kind === editor.last;
  const isChanged = changed.text !== editor.typed.text;
  return {
    ...editor,
    typed: changed,
    undo: isContinued || !isChanged ? editor.undo : within(
      UNDO_LIMITS,
      [...editor.undo, editor.typed],
      ({ text }) => text.length,
    ),
    last,
    goal: undefined,
  };
}

function undo(editor: EditorState): Pressed {
  const typed = editor.undo.at(-1);
  if (typed === undefined) return { editor };
  return done({
    ...editor,
    typed,
    undo: editor.undo.slice(0, -1),
    last: "other",
    goal: undefined,
  });
}

function vertical(direction: "up" | "down"): Command {
  return (editor) => {
    const { typed, goal, entry } = editor;
    const moved = verticalMove(typed, direction, goal);
    if (moved !== undefined) {
      return done({
        ...editor,
        typed: { ...typed, cursor: moved.cursor },
        last: "other",
        goal: moved.goal,
      });
    }
    const next = direction === "up" ? entry - 1 : entry + 1;
    return editor.entries[next] === undefined
      ? { editor }
      : done(recall(editor, next));
  };
}

/** Shows an entry of the history; the previous entry keeps its edits. */
function recall(editor: EditorState, entry: number): EditorState {
  const entries = editor.entries.with(editor.entry, editor.typed.text);
  const typed = textOf(entries[entry] ?? "");
  return {
    ...editor,
    typed,
    entries,
    entry,
    undo: [],
    last: "other",
    goal: undefined,
  };
}

function startSearch(editor: EditorState): Pressed {
  const { typed, entries, entry } = editor;
  const before = { typed, entries, entry };
  return done({
    ...editor,
    search: { query: "", isFound: true, before },
    last: "other",
    goal: undefined,
  });
}

function searchKey(editor: EditorState, search: Search, key: Key): Pressed {
  if (key.kind !== "press") {
    return done(find(editor, search, search.query + key.text, editor.entry));
  }
  switch (key.name) {
    case "backspace": {
      const query = search.query.slice(0, left(textOf(search.query)));
      return done(find(editor, search, query, editor.entries.length - 1));
    }
    case "ctrl-r":
      return done(find(editor, search, search.query, editor.entry - 1));
    case "ctrl-g":
      return done({ ...editor, ...search.before, search: undefined });
    case "escape":
      return done({ ...editor, search: undefined });
    default:
      return pressKey({ ...editor, search: undefined }, key);
  }
}

/** Finds the newest text, at or before the entry `newest`, that contains the query. */
function find(
  editor: EditorState,
  search: Search,
  query: string,
  newest: number,
): EditorState {
  const { text } = editor.typed;
  const entries = editor.entries.with(editor.entry, text);
  const first = Math.min(newest, editor.history.length - 1);
  for (let entry = first; query !== "" && entry >= 0; entry--) {
    const candidate = entries[entry] ?? "";
    const cursor = candidate.lastIndexOf(query);
    // Skips texts equal to the shown one: the user is looking for another one.
    if (cursor < 0 || entry < newest && candidate === text) continue;
    const found = recall(editor, entry);
    return {
      ...found,
      typed: { text: candidate, cursor },
      search: { ...search, query, isFound: true },
    };
  }
  const isFound = query === "";
  return { ...editor, search: { ...search, query, isFound } };
}

/** The newest entries that fit the limits. */
function within<Entry>(
  limits: { readonly entries: number; readonly length: number },
  entries: readonly Entry[],
  lengthOf: (entry: Entry) => number,
): readonly Entry[] {
  let length = 0;
  let start = entries.length;
  const lowest = Math.max(0, entries.length - limits.entries);
  while (start > lowest) {
    length += lengthOf(entries[start - 1] as Entry);
    if (length > limits.length) break;
    start--;
  }
  return start === 0 ? entries : entries.slice(start);
}
