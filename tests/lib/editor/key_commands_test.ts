import { assert, assertEquals } from "@std/assert";
import {
  type EditorState,
  NEW_STATE,
} from "../../../lib/editor/editor_state.ts";
import { moveToHistory } from "../../../lib/editor/history.ts";
import { pressKey } from "../../../lib/editor/key_commands.ts";
import { MAX_PROMPT_BYTES } from "../../../lib/io.ts";
import { KeyParser } from "../../../lib/editor/key_parser.ts";
import fc from "../../support/generated.ts";
import { fromCarets, keyRows } from "../../support/scripts.ts";

/** The editor after this was typed; Enter sends. */
function typed(input: string, editor: EditorState = NEW_STATE): EditorState {
  const bytes = new TextEncoder().encode(fromCarets(input));
  for (const key of new KeyParser().feed(bytes)) {
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

/** A rule, the keys that are typed, and the text with its cursor (`|`) after them. */
const RULES = keyRows(String.raw`
  text goes in at the cursor            ac^[[Db                      ab|c
  Alt-Enter starts a line               a^[^Mb                       a^Jb|
  Tab inserts nothing                   a^Ib                         ab|
  Left moves by grapheme                நி👍🏽^[[Dx^[[D^[[Dy            y|நிx👍🏽
  Backspace deletes a grapheme          a👨‍👩‍👧^?                        a|
  Ctrl-D and Delete delete forward      abc^A^D^[[3~                 |c
  Ctrl-A and Ctrl-E go to the ends      ab^[^Mcd^Ax^Ey               ab^Jxcdy|
  Alt-B and Alt-F move by word          one, two^[b^[b^[fx           onex|, two
  so do Ctrl-Left and Ctrl-Right        a b^[[1;5D^[[1;5Dx^[[1;5C    xa| b
  Alt-B goes before a joined emoji      a ❤️^[bx                      a x|❤️
  Ctrl-K kills to the end               abc^[[D^K                    ab|
  Ctrl-K kills a line end               a^[^Mb^[[A^E^K               a|b
  Ctrl-U kills to the start             abc^[[D^U                    |c
  Ctrl-W kills to a space               see a/b.ts^W                 see |
  Alt-Backspace kills a word            see a/b.ts^[^?               see a/b.|
  Alt-D kills the next word             one two^A^[d                 | two
  Ctrl-Y puts back all kills in a row   one two^W^W^Y^Y              one twoone two|
  another key separates kills           ab cd^Wx^?^W^Y               ab |
  Ctrl-T swaps graphemes at the end     ab^T                         ba|
  Ctrl-T swaps around the cursor        ab汉^[[D^T                    a汉b|
  Ctrl-T leaves the start of a line     a^[^Mbc^A^T                  a^J|bc
  Ctrl-_ undoes a word at a time        one two^_                    |
  Ctrl-_ undoes a kill                  one two^W^_                  one two|
  Ctrl-_ undoes a paste at once         a^[[200~b^Mc^[[201~^_        a|
  Ctrl-_ undoes no more than all        a^_^_^_b                     b|
  Up moves between lines                abc^[^Md^[^Mefg^[[A^[[A      abc|^Jd^Jefg
  Up and Down keep the column           abc^[^Md^[^Mefg^P^P^[[B^[[B  abc^Jd^Jefg|
  Up recalls the history                one^Mtwo^M^[[A^[[A           one|
  Down comes back to what was typed     one^Mtw^[[A^[[Bo             two|
  changes in the history stay           one^M^[[A!^[[Bx^[[A          one!|
  until something is sent               one^M^[[A!^[[Btwo^M^[[A^[[A  one|
  Ctrl-P and Ctrl-N have it, too        one^Mtwo^M^P^P^N             two|
  it holds no text twice                one^Mtwo^Mtwo^M^[[A^[[A      one|
  it holds nothing blank                one^M ^M^M^[[A               one|
  Ctrl-R searches                       one two^Mtwo^Mx^Rone^[[C     o|ne two
  Ctrl-R searches on                    say 1^Msay 2^Msay 3^M^Rsay^R^R  |say 1
  Escape leaves the search              one^M^Rne^[^[b!              !|one
  Ctrl-G takes the search back          one^Mab^Rne^G                ab|
  Backspace searches again              one^Mon 2^M^Rone^?           |on 2
`);
for (const [rule, input = "", text = ""] of RULES) {
  Deno.test(`pressKey(): ${rule}`, () => {
    assertEquals(shown(typed(input)), fromCarets(text));
  });
}

Deno.test("pressKey() marks a search without a result, keeps the last result, and sends it with Enter", () => {
  const editor = typed("x", typed("one^Mtwo^M^Ron"));
  assertEquals(editor.search?.query, "onx");
  assertEquals(editor.search?.isFound, false);
  assertEquals(shown(editor), "|one");
  const sent = pressKey(editor, { kind: "press", name: "enter" });
  assertEquals([sent.action, sent.editor.typed.text], ["send", "one"]);
});

Deno.test("pressKey() asks for the end with Ctrl-D only where nothing is typed", () => {
  const actions = ["", "a", "^[^M"].map((input) =>
    pressKey(typed(input), { kind: "press", name: "ctrl-d" }).action
  );
  assertEquals(actions, ["end", undefined, undefined]);
});

Deno.test("pressKey() takes no more than a text may hold, and says so", () => {
  const full = typed(`^[[200~${"a".repeat(MAX_PROMPT_BYTES)}^[[201~`);
  assertEquals(full.isTooLong, false);
  const { typed: { text }, ...editor } = typed("b", full);
  assertEquals([text.length, editor.isTooLong], [MAX_PROMPT_BYTES, true]);
  assertEquals(moveToHistory(typed("b", full)).history, []);
});

Deno.test("the last 1,000 changes can be undone, and the last 1,000 texts are kept", () => {
  const changes = Array.from({ length: 502 }, (_, i) => `${i % 10}^[^M`);
  const undone = typed(`${changes.join("")}${"^_".repeat(1_100)}`);
  assertEquals(undone.typed.text.length, 4);
  const prompts = Array.from({ length: 1_002 }, (_, i) => `${i}^M`);
  const { history } = typed(prompts.join(""));
  assertEquals([history.length, history[0]], [1_000, "2"]);
});

Deno.test("pressKey() leaves the cursor between graphemes, whatever is pressed", () => {
  const part = fc.oneof(
    fc.constantFrom("a", " ", "^[^M", "e\u0301", "\u200d", "👩", "\u0301"),
    fc.constantFrom("\u{1F1E9}", "\u{1F1EA}", "\u1100", "\u1161", "\ud83d"),
    fc.constantFrom(..."^B ^F ^? ^D ^W ^Y ^T ^_ ^A ^P ^N".split(" ")),
    fc.constantFrom("^[b", "^[f", "^[d"),
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
