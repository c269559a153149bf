/**
 * The effect of keys on a prompt, as a pure function of the editor's state.
 *
 * @module
 */

import type { Key } from "./keys.ts";
import {
  bigWordLeft,
  deleteTo,
  EMPTY,
  insert,
  left,
  lineEnd,
  lineStart,
  type PromptText,
  right,
  textOf,
  transpose,
  verticalMove,
  wordLeft,
  wordRight,
} from "./prompt_text.ts";

/** The most prompts in the history, and their most UTF-16 code units in total. */
const HISTORY_LIMITS = { entries: 1_000, length: 64 * 1024 * 1024 };

/** The most states that can be undone, and their most UTF-16 code units in total. */
const UNDO_LIMITS = { entries: 500, length: 64 * 1024 * 1024 };

/** The longest prompt, in UTF-16 code units. Further text is refused. */
export const MAX_PROMPT_LENGTH = 64 * 1024 * 1024;

/** A search through the history. */
export interface Search {
  readonly query: string;
  /** Whether the shown prompt contains the query. */
  readonly isFound: boolean;
  /** The prompt before the search, restored when the search is cancelled. */
  readonly before: Pick<Editor, "prompt" | "entries" | "entry">;
}

/** The editor's state. */
export interface Editor {
  readonly prompt: PromptText;
  /** Prompts that were sent, oldest first. */
  readonly history: readonly string[];
  /** The history with its edits, and the new prompt at the end. */
  readonly entries: readonly string[];
  /** The index of the shown entry. */
  readonly entry: number;
  readonly search: Search | undefined;
  /** The text that Ctrl-Y inserts. */
  readonly killed: string;
  readonly undo: readonly PromptText[];
  /** The effect of the last key, if the next key can continue it. */
  readonly last: "type" | "paste" | "erase" | "kill" | "other";
  /** The column that Up and Down keep, in graphemes from the start of the line. */
  readonly goal: number | undefined;
  /** Whether text was refused because the prompt is too long. */
  readonly isTooLong: boolean;
}

/** A request of a key to the terminal. */
export type Request = "send" | "end" | "clear screen";

/** The result of a key. */
export interface Pressed {
  readonly editor: Editor;
  readonly request?: Request;
}

/** An empty editor. */
export const NEW_EDITOR: Editor = {
  prompt: EMPTY,
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
export function pressKey(editor: Editor, key: Key): Pressed {
  if (editor.search !== undefined) return searchKey(editor, editor.search, key);
  if (key.kind === "paste") return done(paste(editor, key));
  if (key.kind === "text") return done(type(editor, key.text));
  const command = COMMANDS[key.name];
  return command === undefined ? { editor } : command(editor);
}

/** Moves the prompt from the editor to its history. */
export function takePrompt(
  editor: Editor,
): { readonly text: string; readonly editor: Editor } {
  const { text } = editor.prompt;
  const isKept = text.trim() !== "" && text !== editor.history.at(-1) &&
    !editor.isTooLong;
  const history = isKept
    ? within(HISTORY_LIMITS, [...editor.history, text], (entry) => entry.length)
    : editor.history;
  return {
    text,
    editor: {
      ...NEW_EDITOR,
      history,
      entries: [...history, ""],
      entry: history.length,
      killed: editor.killed,
    },
  };
}

/** Clears the prompt; {@linkcode Editor.undo} keeps its text. */
export function clearPrompt(editor: Editor): Editor {
  return {
    ...edit({ ...editor, search: undefined }, EMPTY),
    entries: [...editor.history, ""],
    entry: editor.history.length,
    isTooLong: false,
  };
}

type Command = (editor: Editor) => Pressed;

const COMMANDS: Readonly<Record<string, Command>> = {
  "enter": (editor) => ({ editor, request: "send" }),
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
    editor.prompt.text === ""
      ? { editor, request: "end" }
      : erase(right)(editor),
  "ctrl-k": kill(toLineEnd),
  "ctrl-u": kill(toLineStart),
  "ctrl-w": kill(bigWordLeft),
  "alt-backspace": kill(wordLeft),
  "ctrl-backspace": kill(wordLeft),
  "alt-d": kill(wordRight),
  "ctrl-delete": kill(wordRight),
  "ctrl-y": (editor) => done(edit(editor, put(editor, editor.killed))),
  "ctrl-t": (editor) => done(edit(editor, transpose(editor.prompt))),
  "ctrl-_": undo,

  "up": vertical("up"),
  "down": vertical("down"),
  "ctrl-p": vertical("up"),
  "ctrl-n": vertical("down"),
  "ctrl-r": startSearch,
  "ctrl-l": (editor) => ({ editor, request: "clear screen" }),
};

function done(editor: Editor): Pressed {
  return { editor };
}

/** A key that moves the cursor. */
function move(target: (prompt: PromptText) => number): Command {
  return (editor) => {
    const cursor = target(editor.prompt);
    return done({
      ...editor,
      prompt: { ...editor.prompt, cursor },
      last: "other",
      goal: undefined,
    });
  };
}

/** A key that deletes up to an offset. */
function erase(target: (prompt: PromptText) => number): Command {
  return (editor) => {
    const { prompt } = editor;
    return done(edit(editor, deleteTo(prompt, target(prompt)), "erase"));
  };
}

/** A key that deletes up to an offset, and keeps the text for Ctrl-Y. */
function kill(target: (prompt: PromptText) => number): Command {
  return (editor) => {
    const { prompt } = editor;
    const offset = target(prompt);
    if (offset === prompt.cursor) return { editor };
    const isBefore = offset < prompt.cursor;
    const text = isBefore
      ? prompt.text.slice(offset, prompt.cursor)
      : prompt.text.slice(prompt.cursor, offset);
    const earlier = editor.last === "kill" ? editor.killed : "";
    return done({
      ...edit(editor, deleteTo(prompt, offset)),
      killed: isBefore ? text + earlier : earlier + text,
      last: "kill",
    });
  };
}

function toLineEnd(prompt: PromptText): number {
  const end = lineEnd(prompt);
  return end === prompt.cursor ? right(prompt) : end;
}

function toLineStart(prompt: PromptText): number {
  const start = lineStart(prompt);
  return start === prompt.cursor ? left(prompt) : start;
}

function newLine(editor: Editor): Pressed {
  return done(edit(editor, put(editor, "\n")));
}

function type(editor: Editor, text: string): Editor {
  // One undo removes a word and the space before it.
  const isWord = !/^\s/.test(text) || editor.last !== "type";
  return edit(editor, put(editor, text), isWord ? "type" : "other", "type");
}

function paste(
  editor: Editor,
  { text, isContinued }: Extract<Key, { kind: "paste" }>,
): Editor {
  const changed = put(editor, text);
  return isContinued
    ? edit(editor, changed, "paste")
    : edit(editor, changed, "other", "paste");
}

/** Inserts a text, or changes nothing if the prompt would be too long. */
function put({ prompt }: Editor, text: string): PromptText | undefined {
  return prompt.text.length + text.length > MAX_PROMPT_LENGTH
    ? undefined
    : insert(prompt, text);
}

/**
 * Makes a change. It is undone together with the last change if that was of the
 * same kind, else alone.
 */
function edit(
  editor: Editor,
  changed: PromptText | undefined,
  kind: Editor["last"] = "other",
  last: Editor["last"] = kind,
): Editor {
  if (changed === undefined) return { ...editor, isTooLong: true };
  const isContinued = kind !== "other" && kind === editor.last;
  const isChanged = changed.text !== editor.prompt.text;
  return {
    ...editor,
    prompt: changed,
    undo: isContinued || !isChanged ? editor.undo : within(
      UNDO_LIMITS,
      [...editor.undo, editor.prompt],
      ({ text }) => text.length,
    ),
    last,
    goal: undefined,
  };
}

function undo(editor: Editor): Pressed {
  const prompt = editor.undo.at(-1);
  if (prompt === undefined) return { editor };
  return done({
    ...editor,
    prompt,
    undo: editor.undo.slice(0, -1),
    last: "other",
    goal: undefined,
  });
}

function vertical(direction: "up" | "down"): Command {
  return (editor) => {
    const { prompt, goal, entry } = editor;
    const moved = verticalMove(prompt, direction, goal);
    if (moved !== undefined) {
      return done({
        ...editor,
        prompt: { ...prompt, cursor: moved.cursor },
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
function recall(editor: Editor, entry: number): Editor {
  const entries = editor.entries.with(editor.entry, editor.prompt.text);
  const prompt = textOf(entries[entry] ?? "");
  return {
    ...editor,
    prompt,
    entries,
    entry,
    undo: [],
    last: "other",
    goal: undefined,
  };
}

function startSearch(editor: Editor): Pressed {
  const { prompt, entries, entry } = editor;
  const before = { prompt, entries, entry };
  return done({
    ...editor,
    search: { query: "", isFound: true, before },
    last: "other",
    goal: undefined,
  });
}

function searchKey(editor: Editor, search: Search, key: Key): Pressed {
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

/** Finds the newest prompt, at or before the entry `newest`, that contains the query. */
function find(
  editor: Editor,
  search: Search,
  query: string,
  newest: number,
): Editor {
  const { text } = editor.prompt;
  const entries = editor.entries.with(editor.entry, text);
  const first = Math.min(newest, editor.history.length - 1);
  for (let entry = first; query !== "" && entry >= 0; entry--) {
    const candidate = entries[entry] ?? "";
    const cursor = candidate.lastIndexOf(query);
    // Skips prompts equal to the shown one: the user is looking for another one.
    if (cursor < 0 || entry < newest && candidate === text) continue;
    const found = recall(editor, entry);
    return {
      ...found,
      prompt: { text: candidate, cursor },
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
