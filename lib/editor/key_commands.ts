import { MAX_PROMPT_BYTES } from "../io.ts";
import {
  bigWordLeft,
  columnOf,
  type CursorText,
  deleteTo,
  insert,
  left,
  lineEnd,
  lineStart,
  right,
  transpose,
  verticalMove,
  wordLeft,
  wordRight,
} from "./cursor_text.ts";
import { type EditorState, newest, settled } from "./editor_state.ts";
import { recall, searchKey, startSearch } from "./history.ts";
import type { Key } from "./key.ts";

interface Pressed {
  readonly editor: EditorState;
  /** What the key does, other than changing the text. */
  readonly action?: "send" | "end";
}

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

type Command = (editor: EditorState) => EditorState;

/** What keys do, by their names. {@linkcode pressKey} adds Enter and Ctrl-D. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  "ctrl-j": newLine,
  "alt-enter": newLine,
  "shift-enter": newLine,
  "ctrl-enter": newLine,
  "alt-ctrl-j": newLine,

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
  "shift-backspace": erase(left),
  "ctrl-backspace": erase(left),
  "delete": erase(right),
  "ctrl-d": erase(right),
  "ctrl-k": kill(toLineEnd),
  "ctrl-u": kill(toLineStart),
  "ctrl-w": kill(bigWordLeft),
  "alt-backspace": kill(wordLeft),
  "alt-d": kill(wordRight),
  "ctrl-delete": kill(wordRight),
  "ctrl-y": (editor) => edit(editor, put(editor, editor.killed)),
  "ctrl-t": (editor) => edit(editor, transpose(editor.typed)),
  "ctrl-_": undo,

  "up": vertical("up"),
  "down": vertical("down"),
  "ctrl-p": vertical("up"),
  "ctrl-n": vertical("down"),
  "ctrl-r": startSearch,
};

function move(target: (typed: CursorText) => number): Command {
  return (editor) => {
    const typed = { ...editor.typed, cursor: target(editor.typed) };
    return settled(editor, { typed });
  };
}

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

/**
 * Inserts a text, or changes nothing if the text would be too long. Until it is sent, its
 * length is counted in UTF-16 code units, of which each is at least one byte.
 */
function put({ typed }: EditorState, text: string): CursorText | undefined {
  return typed.text.length + text.length > MAX_PROMPT_BYTES
    ? undefined
    : insert(typed, text);
}

/** Makes a change; one that continues the last one is undone together with it. */
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
    const { typed, entry } = editor;
    const goal = editor.goal ?? columnOf(typed);
    const cursor = verticalMove(typed, direction, goal);
    if (cursor !== undefined) {
      return settled(editor, { typed: { ...typed, cursor }, goal });
    }
    const next = direction === "up" ? entry - 1 : entry + 1;
    return editor.entries[next] === undefined ? editor : recall(editor, next);
  };
}
