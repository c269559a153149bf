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
import type { Key } from "./key_parser.ts";

/** The most texts in the history, and the most changes that can be undone. */
const MAX_KEPT = 1_000;

/** The most UTF-16 code units that each of these two lists holds in total. */
const MAX_KEPT_LENGTH = 64 * 1024 * 1024;

/** The longest text, in UTF-16 code units. Further text is refused. */
export const MAX_TEXT_LENGTH = MAX_LINE_BYTES;

/** A search through the history. */
export interface Search {
  readonly query: string;
  /** Whether the shown text contains the query. */
  readonly isFound: boolean;
  /** The state before the search, restored when the search is cancelled. */
  readonly before: EditorState;
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

/** The result of a key. */
export interface Pressed {
  readonly editor: EditorState;
  /** What the key does, other than changing the text. */
  readonly action?: "send" | "end";
}

/** An empty editor. */
export const NEW_STATE: EditorState = {
  typed: textOf(""),
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
  const { search } = editor;
  if (search !== undefined) {
    const searched = searchKey(editor, search, key);
    if (searched !== undefined) return { editor: searched };
    editor = { ...editor, search: undefined };
  }
  if (key.kind === "paste") {
    const changed = put(editor, key.text);
    return { editor: edit(editor, changed, "paste", key.isContinued) };
  }
  if (key.kind === "text") return { editor: type(editor, key.text) };
  if (key.name === "enter") return { editor, action: "send" };
  const isEmpty = editor.typed.text === "";
  if (key.name === "ctrl-d" && isEmpty) return { editor, action: "end" };
  return { editor: COMMANDS[key.name]?.(editor) ?? editor };
}

/** Moves the text from the editor to its history. */
export function moveToHistory(editor: EditorState): EditorState {
  const { text } = editor.typed;
  const isKept = text.trim() !== "" && text !== editor.history.at(-1) &&
    !editor.isTooLong;
  const history = isKept
    ? newest([...editor.history, text], (entry) => entry.length)
    : editor.history;
  return {
    ...NEW_STATE,
    history,
    entries: [...history, ""],
    entry: history.length,
    killed: editor.killed,
  };
}

type Command = (editor: EditorState) => EditorState;

const COMMANDS: Readonly<Record<string, Command>> = {
  "ctrl-j": newLine,
  "alt-enter": newLine,
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

  "backspace": erase(left),
  "delete": erase(right),
  "ctrl-d": erase(right),
  "ctrl-k": kill(toLineEnd),
  "ctrl-u": kill(toLineStart),
  "ctrl-w": kill(bigWordLeft),
  "alt-backspace": kill(wordLeft),
  "alt-d": kill(wordRight),
  "ctrl-y": (editor) => edit(editor, put(editor, editor.killed)),
  "ctrl-t": (editor) => edit(editor, transpose(editor.typed)),
  "ctrl-_": undo,

  "up": vertical("up"),
  "down": vertical("down"),
  "ctrl-p": vertical("up"),
  "ctrl-n": vertical("down"),
  "ctrl-r": startSearch,
};

/** The editor after a change that the next key does not continue. */
function settled(
  editor: EditorState,
  changes: Partial<EditorState>,
): EditorState {
  return { ...editor, last: "other", goal: undefined, ...changes };
}

/** A key that moves the cursor. */
function move(target: (typed: CursorText) => number): Command {
  return (editor) => {
    const typed = { ...editor.typed, cursor: target(editor.typed) };
    return settled(editor, { typed });
  };
}

/** A key that deletes up to an offset. */
function erase(target: (typed: CursorText) => number): Command {
  return (editor) => {
    const { typed } = editor;
    const changed = deleteTo(typed, target(typed));
    return edit(editor, changed, "erase", editor.last === "erase");
  };
}

/** A key that deletes up to an offset, and keeps the text for Ctrl-Y. */
function kill(target: (typed: CursorText) => number): Command {
  return (editor) => {
    const { typed } = editor;
    const offset = target(typed);
    if (offset === typed.cursor) return editor;
    const isBefore = offset < typed.cursor;
    const text = isBefore
      ? typed.text.slice(offset, typed.cursor)
      : typed.text.slice(typed.cursor, offset);
    const earlier = editor.last === "kill" ? editor.killed : "";
    const killed = isBefore ? text + earlier : earlier + text;
    return { ...edit(editor, deleteTo(typed, offset), "kill"), killed };
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

function newLine(editor: EditorState): EditorState {
  return edit(editor, put(editor, "\n"));
}

function type(editor: EditorState, text: string): EditorState {
  // One undo removes a word and the space before it.
  const isWord = editor.last === "type" && !/^\s/.test(text);
  return edit(editor, put(editor, text), "type", isWord);
}

/** Inserts a text, or changes nothing if the text would be too long. */
function put({ typed }: EditorState, text: string): CursorText | undefined {
  return typed.text.length + text.length > MAX_TEXT_LENGTH
    ? undefined
    : insert(typed, text);
}

/**
 * Makes a change.
 *
 * @param isContinued Whether it is undone together with the last change.
 */
function edit(
  editor: EditorState,
  changed: CursorText | undefined,
  last: EditorState["last"] = "other",
  isContinued = false,
): EditorState {
  if (changed === undefined) return { ...editor, isTooLong: true };
  const isChanged = changed.text !== editor.typed.text;
  const undo = isContinued || !isChanged
    ? editor.undo
    : newest([...editor.undo, editor.typed], ({ text }) => text.length);
  return settled(editor, { typed: changed, undo, last });
}

function undo(editor: EditorState): EditorState {
  const typed = editor.undo.at(-1);
  if (typed === undefined) return editor;
  return settled(editor, { typed, undo: editor.undo.slice(0, -1) });
}

function vertical(direction: "up" | "down"): Command {
  return (editor) => {
    const { typed, goal, entry } = editor;
    const moved = verticalMove(typed, direction, goal);
    if (moved !== undefined) {
      const { cursor, goal } = moved;
      return settled(editor, { typed: { ...typed, cursor }, goal });
    }
    const next = direction === "up" ? entry - 1 : entry + 1;
    return editor.entries[next] === undefined ? editor : recall(editor, next);
  };
}

/** Shows an entry of the history; the previous entry keeps its edits. */
function recall(editor: EditorState, entry: number): EditorState {
  const entries = editor.entries.with(editor.entry, editor.typed.text);
  const typed = textOf(entries[entry] ?? "");
  return settled(editor, { typed, entries, entry, undo: [] });
}

function startSearch(editor: EditorState): EditorState {
  const search = { query: "", isFound: true, before: editor };
  return settled(editor, { search });
}

/** Applies a key to a search; `undefined` if the key ends it and acts on the text. */
function searchKey(
  editor: EditorState,
  search: Search,
  key: Key,
): EditorState | undefined {
  const { query, before } = search;
  if (key.kind !== "press") {
    return find(editor, search, query + key.text, editor.entry);
  }
  switch (key.name) {
    case "backspace": {
      const shorter = query.slice(0, left(textOf(query)));
      return find(editor, search, shorter, editor.entries.length - 1);
    }
    case "ctrl-r":
      return find(editor, search, query, editor.entry - 1);
    case "ctrl-g":
      return before;
    case "escape":
      return { ...editor, search: undefined };
    default:
      return undefined;
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
function newest<Entry>(
  entries: readonly Entry[],
  lengthOf: (entry: Entry) => number,
): readonly Entry[] {
  let length = 0;
  const isOver = (entry: Entry, index: number) =>
    index < entries.length - MAX_KEPT ||
    (length += lengthOf(entry)) > MAX_KEPT_LENGTH;
  return entries.slice(entries.findLastIndex(isOver) + 1);
}
