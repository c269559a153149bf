import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { KeyParser } from "../../../lib/interactive/keys.ts";
import {
  clearPrompt,
  type Editor,
  MAX_PROMPT_LENGTH,
  NEW_EDITOR,
  pressKey,
  takePrompt,
} from "../../../lib/interactive/prompt_editor.ts";

/** The editor after this was typed; Enter sends. */
function typed(input: string, editor: Editor = NEW_EDITOR): Editor {
  for (const key of new KeyParser().feed(new TextEncoder().encode(input))) {
    const pressed = pressKey(editor, key);
    editor = pressed.request === "send"
      ? takePrompt(pressed.editor).editor
      : pressed.editor;
  }
  return editor;
}

/** The prompt with `|` where the cursor is. */
function shown({ prompt: { text, cursor } }: Editor): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

const UP = "\x1b[A";
const DOWN = "\x1b[B";
const LEFT = "\x1b[D";

const CASES: readonly (readonly [string, string, string])[] = [
  ["inserts at the cursor", `ac${LEFT}b`, "ab|c"],
  ["starts a line with Alt-Enter", "a\x1b\rb", "a\nb|"],
  ["inserts nothing with Tab", "a\tb", "ab|"],
  [
    "moves by grapheme",
    `e\u0301👍🏽${LEFT}x${LEFT}${LEFT}y`,
    "y|e\u0301x👍🏽",
  ],
  ["deletes a grapheme at once", "a👨‍👩‍👧\x7f", "a|"],
  ["deletes forward with Ctrl-D and Delete", "abc\x01\x04\x1b[3~", "|c"],
  [
    "goes to the ends of a line with Ctrl-A and Ctrl-E",
    "ab\x1b\rcd\x01x\x05y",
    "ab\nxcdy|",
  ],
  [
    "moves by word with Alt-B and Alt-F",
    "one, two\x1bb\x1bb\x1bfx",
    "onex|, two",
  ],
  [
    "moves by word with Ctrl-Left and Ctrl-Right",
    "a b\x1b[1;5D\x1b[1;5Dx\x1b[1;5C",
    "xa| b",
  ],
  ["kills to the end with Ctrl-K", `abc${LEFT}\x0b`, "ab|"],
  ["kills a line end with Ctrl-K", `a\x1b\rb${UP}\x05\x0b`, "a|b"],
  ["kills to the start with Ctrl-U", `abc${LEFT}\x15`, "|c"],
  ["kills to a space with Ctrl-W", "see a/b.ts\x17", "see |"],
  ["kills a word with Alt-Backspace", "see a/b.ts\x1b\x7f", "see a/b.|"],
  ["kills a word with Alt-D", "one two\x01\x1bd", "| two"],
  [
    "puts back with Ctrl-Y what was killed in a row",
    "one two\x17\x17\x19\x19",
    "one twoone two|",
  ],
  [
    "does not put kills together after another key",
    `ab cd\x17x\x7f\x17\x19`,
    "ab |",
  ],
  ["swaps graphemes with Ctrl-T", "ab\x14", "ba|"],
  ["swaps around the cursor with Ctrl-T", `ab汉${LEFT}\x14`, "a汉b|"],
  ["undoes a word at a time with Ctrl-_", "one two\x1f", "|"],
  ["undoes what was killed with Ctrl-_", "one two\x17\x1f", "one two|"],
  ["undoes a paste at once", "a\x1b[200~b\rc\x1b[201~\x1f", "a|"],
  ["undoes down to nothing, and no further", "a\x1f\x1f\x1fb", "b|"],
  [
    "moves up and down in a prompt of several lines",
    `abc\x1b\rd\x1b\refg${UP}${UP}`,
    "abc|\nd\nefg",
  ],
  [
    "keeps the column over a short line",
    `abc\x1b\rd\x1b\refg${UP}${UP}${DOWN}${DOWN}`,
    "abc\nd\nefg|",
  ],
  ["recalls the history with Up", `one\rtwo\r${UP}${UP}`, "one|"],
  ["comes back to what was typed with Down", `one\rtw${UP}${DOWN}o`, "two|"],
  [
    "keeps what was changed in the history",
    `one\r${UP}!${DOWN}x${UP}`,
    "one!|",
  ],
  [
    "forgets it when something is sent",
    `one\r${UP}!${DOWN}two\r${UP}${UP}`,
    "one|",
  ],
  ["has the history on Ctrl-P and Ctrl-N", `one\rtwo\r\x10\x10\x0e`, "two|"],
  ["does not keep the same prompt twice", `one\rtwo\rtwo\r${UP}${UP}`, "one|"],
  ["does not keep blank prompts", `one\r  \r\r${UP}`, "one|"],
  ["searches with Ctrl-R", "one two\rtwo\rx\x12one\x1b[C", "o|ne two"],
  ["searches on with Ctrl-R", "say 1\rsay 2\rsay 3\r\x12say\x12\x12", "|say 1"],
  [
    "leaves the search with Escape",
    "one\r\x12ne\x1b\x1b[C!",
    "on!|e",
  ],
  ["takes the search back with Ctrl-G", "one\rab\x12ne\x07", "ab|"],
  ["searches again after Backspace", "one\ron 2\r\x12one\x7f", "|on 2"],
];

for (const [what, input, prompt] of CASES) {
  Deno.test(`pressKey() ${what}`, () => {
    assertEquals(shown(typed(input)), prompt);
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
  const { editor, request } = pressKey(typed("one\rtwo\r\x12on"), key);
  assertEquals(request, "send");
  assertEquals(takePrompt(editor).text, "one");
});

Deno.test("pressKey() asks for the end with Ctrl-D only where nothing is typed", () => {
  const key = { kind: "press", name: "ctrl-d" } as const;
  assertEquals(pressKey(NEW_EDITOR, key).request, "end");
  assertEquals(pressKey(typed("a"), key).request, undefined);
  assertEquals(pressKey(typed("\x1b\r"), key).request, undefined);
});

Deno.test("clearPrompt() can be undone", () => {
  assertEquals(shown(typed("\x1f", clearPrompt(typed("one two")))), "one two|");
});

Deno.test("pressKey() takes no more than a prompt may hold, and says so", () => {
  const text = "a".repeat(MAX_PROMPT_LENGTH);
  const paste = (
    text: string,
  ) => ({ kind: "paste", text, isContinued: false } as const);
  const full = pressKey(NEW_EDITOR, paste(text)).editor;
  assertEquals(full.isTooLong, false);
  const { editor } = pressKey(full, paste("b"));
  assertEquals(editor.prompt.text.length, MAX_PROMPT_LENGTH);
  assert(editor.isTooLong);
  assertEquals(takePrompt(editor).editor.history, []);
});

Deno.test("takePrompt() keeps the last 1,000 prompts", () => {
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
    const { text, cursor } = typed(parts.join("")).prompt;
    const boundaries = Array.from(
      new Intl.Segmenter().segment(text),
      ({ index }) => index,
    );
    assert([...boundaries, text.length].includes(cursor));
  }));
});
