import { cursorAtEnd, left } from "./cursor_text.ts";
import {
  type EditorState,
  NEW_STATE,
  newest,
  type Search,
  settled,
} from "./editor_state.ts";
import type { Key } from "./key.ts";

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

/** Shows an entry of the history; the previous entry keeps its edits. */
export function recall(editor: EditorState, entry: number): EditorState {
  const entries = editor.entries.with(editor.entry, editor.typed.text);
  const typed = cursorAtEnd(entries[entry] ?? "");
  return settled(editor, { typed, entries, entry, undo: [] });
}

export function startSearch(editor: EditorState): EditorState {
  const search = { query: "", isFound: true, before: editor };
  return settled(editor, { search });
}

/** Applies a key to a search. Returns `undefined` if the key ends the search. */
export function searchKey(
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
      const shorter = query.slice(0, left(cursorAtEnd(query)));
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

/** Finds the newest text, at or before the entry `latest`, that contains the query. */
function find(
  editor: EditorState,
  search: Search,
  query: string,
  latest: number,
): EditorState {
  const { text } = editor.typed;
  const entries = editor.entries.with(editor.entry, text);
  const first = Math.min(latest, editor.history.length - 1);
  for (let entry = first; query !== "" && entry >= 0; entry--) {
    const candidate = entries[entry] ?? "";
    const cursor = candidate.lastIndexOf(query);
    // Skips texts equal to the shown one: the user is looking for another one.
    if (cursor < 0 || entry < latest && candidate === text) continue;
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
