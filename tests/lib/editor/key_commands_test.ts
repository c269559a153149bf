import { assert, assertEquals } from "@std/assert";
import {
  type EditorState,
  NEW_STATE,
} from "../../../lib/editor/editor_state.ts";
import { moveToHistory } from "../../../lib/editor/history.ts";
import { MAX_TEXT_LENGTH, pressKey } from "../../../lib/editor/key_commands.ts";
import { KeyParser } from "../../../lib/editor/key_parser.ts";
import fc from "../../support/generated.ts";

/** The editor after this was typed; Enter sends. */
function typed(input: string, editor: EditorState = NEW_STATE): EditorState {
  for (const key of new KeyParser().feed(new TextEncoder().encode(input))) {
    const pressed = pressKey(editor, key);
    editor = pressed.action === "send"
      ? moveToHistory(pressed.editor)
      : pressed.editor;
  }
  return editor;
}

/** The prompt with `|` where the cursor is. */
function shown({ typed: { text, cursor } }: EditorState): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

const UP = "\x1b[A";
const DOWN = "\x1b[B";
const LEFT = "\x1b[D";

/** The keys that are typed, and the text with its cursor (`|`) after them. */
const CASES: Readonly<Record<string, readonly [input: string, text: string]>> =
  {
    "text goes in at the cursor": [`ac${LEFT}b`, "ab|c"],
    "Alt-Enter starts a line": ["a\x1b\rb", "a\nb|"],
    "Tab inserts nothing": ["a\tb", "ab|"],
    "Left moves by grapheme": [
      `e\u0301👍🏽${LEFT}x${LEFT}${LEFT}y`,
      "y|e\u0301x👍🏽",
    ],
    "Backspace deletes a grapheme": ["a👨‍👩‍👧\x7f", "a|"],
    "Ctrl-D and Delete delete forward": ["abc\x01\x04\x1b[3~", "|c"],
    "Ctrl-A and Ctrl-E go to the ends": ["ab\x1b\rcd\x01x\x05y", "ab\nxcdy|"],
    "Alt-B and Alt-F move by word": ["one, two\x1bb\x1bb\x1bfx", "onex|, two"],
    "so do Ctrl-Left and Ctrl-Right": [
      "a b\x1b[1;5D\x1b[1;5Dx\x1b[1;5C",
      "xa| b",
    ],
    "Alt-B goes before an emoji of several characters": [
      "a \u2764\ufe0f\x1bbx",
      "a x|\u2764\ufe0f",
    ],
    "Ctrl-K kills to the end": [`abc${LEFT}\x0b`, "ab|"],
    "Ctrl-K kills a line end": [`a\x1b\rb${UP}\x05\x0b`, "a|b"],
    "Ctrl-U kills to the start": [`abc${LEFT}\x15`, "|c"],
    "Ctrl-W kills to a space": ["see a/b.ts\x17", "see |"],
    "Alt-Backspace kills a word": ["see a/b.ts\x1b\x7f", "see a/b.|"],
    "Alt-D kills the next word": ["one two\x01\x1bd", "| two"],
    "Ctrl-Y puts back all kills in a row": [
      "one two\x17\x17\x19\x19",
      "one twoone two|",
    ],
    "another key separates kills": ["ab cd\x17x\x7f\x17\x19", "ab |"],
    "Ctrl-T swaps graphemes at the end": ["ab\x14", "ba|"],
    "Ctrl-T swaps around the cursor": [`ab汉${LEFT}\x14`, "a汉b|"],
    "Ctrl-T leaves the start of a line": ["a\x1b\rbc\x01\x14", "a\n|bc"],
    "Ctrl-_ undoes a word at a time": ["one two\x1f", "|"],
    "Ctrl-_ undoes a kill": ["one two\x17\x1f", "one two|"],
    "Ctrl-_ undoes a paste at once": ["a\x1b[200~b\rc\x1b[201~\x1f", "a|"],
    "Ctrl-_ undoes no more than all": ["a\x1f\x1f\x1fb", "b|"],
    "Up moves between lines": [`abc\x1b\rd\x1b\refg${UP}${UP}`, "abc|\nd\nefg"],
    "Up and Down keep the column": [
      `abc\x1b\rd\x1b\refg${UP}${UP}${DOWN}${DOWN}`,
      "abc\nd\nefg|",
    ],
    "Up recalls the history": [`one\rtwo\r${UP}${UP}`, "one|"],
    "Down comes back to what was typed": [`one\rtw${UP}${DOWN}o`, "two|"],
    "changes in the history stay": [`one\r${UP}!${DOWN}x${UP}`, "one!|"],
    "until something is sent": [`one\r${UP}!${DOWN}two\r${UP}${UP}`, "one|"],
    "Ctrl-P and Ctrl-N have it, too": ["one\rtwo\r\x10\x10\x0e", "two|"],
    "it holds no text twice": [`one\rtwo\rtwo\r${UP}${UP}`, "one|"],
    "it holds nothing blank": [`one\r  \r\r${UP}`, "one|"],
    "Ctrl-R searches": ["one two\rtwo\rx\x12one\x1b[C", "o|ne two"],
    "Ctrl-R searches on": ["say 1\rsay 2\rsay 3\r\x12say\x12\x12", "|say 1"],
    "Escape leaves the search": ["one\r\x12ne\x1b\x1bb!", "!|one"],
    "Ctrl-G takes the search back": ["one\rab\x12ne\x07", "ab|"],
    "Backspace searches again": ["one\ron 2\r\x12one\x7f", "|on 2"],
  };
for (const [rule, [input, text]] of Object.entries(CASES)) {
  Deno.test(`pressKey(): ${rule}`, () => {
    assertEquals(shown(typed(input)), text);
  });
}

Deno.test("pressKey() marks a search without a result, and keeps the last result", () => {
  const editor = typed("x", typed("one\r\x12on"));
  assertEquals(editor.search?.query, "onx");
  assertEquals(editor.search?.isFound, false);
  assertEquals(shown(editor), "|one");
});

Deno.test("pressKey() sends what a search has found with Enter", () => {
  const key = { kind: "press", name: "enter" } as const;
  const { editor, action } = pressKey(typed("one\rtwo\r\x12on"), key);
  assertEquals(action, "send");
  assertEquals(editor.typed.text, "one");
});

Deno.test("pressKey() asks for the end with Ctrl-D only where nothing is typed", () => {
  const key = { kind: "press", name: "ctrl-d" } as const;
  assertEquals(pressKey(NEW_STATE, key).action, "end");
  assertEquals(pressKey(typed("a"), key).action, undefined);
  assertEquals(pressKey(typed("\x1b\r"), key).action, undefined);
});

Deno.test("pressKey() takes no more than a text may hold, and says so", () => {
  const text = "a".repeat(MAX_TEXT_LENGTH);
  const paste = (
    text: string,
  ) => ({ kind: "paste", text, isContinued: false } as const);
  const full = pressKey(NEW_STATE, paste(text)).editor;
  assertEquals(full.isTooLong, false);
  const { editor } = pressKey(full, paste("b"));
  assertEquals(editor.typed.text.length, MAX_TEXT_LENGTH);
  assert(editor.isTooLong);
  assertEquals(moveToHistory(editor).history, []);
});

Deno.test("pressKey() can undo the last 1,000 changes", () => {
  const changes = Array.from({ length: 502 }, (_, i) => `${i % 10}\x1b\r`);
  const undone = typed(`${changes.join("")}${"\x1f".repeat(1_100)}`);
  assertEquals(undone.typed.text.length, 4);
});

Deno.test("moveToHistory() keeps the last 1,000 texts", () => {
  const prompts = Array.from({ length: 1_002 }, (_, i) => `${i}`);
  const { history } = typed(prompts.join("\r") + "\r");
  assertEquals(history.length, 1_000);
  assertEquals(history[0], "2");
});

Deno.test("pressKey() leaves the cursor between graphemes, whatever is pressed", () => {
  const part = fc.oneof(
    fc.constantFrom("a", " ", "\x1b\r", "e\u0301", "\u200d", "👩", "\u0301"),
    fc.constantFrom("\u{1F1E9}", "\u{1F1EA}", "\u1100", "\u1161", "\ud83d"),
    fc.constantFrom("\x02", "\x06", "\x7f", "\x04", "\x17", "\x19", "\x14"),
    fc.constantFrom("\x1f", "\x1bb", "\x1bf", "\x1bd", UP, DOWN, "\x01"),
  );
  fc.assert(fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
    const { text, cursor } = typed(parts.join("")).typed;
    const boundaries = Array.from(
      new Intl.Segmenter().segment(text),
      ({ index }) => index,
    );
    assert([...boundaries, text.length].includes(cursor));
  }));
});
