import { assert, assertEquals, assertFalse } from "@std/assert";
import type { Key } from "../../../lib/editor/key.ts";
import { COMMANDS } from "../../../lib/editor/key_commands.ts";
import { KeyParser } from "../../../lib/editor/key_parser.ts";
import fc from "../../support/generated.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** The names of keys, text in quotes, and pastes in brackets. */
function told(keys: readonly Key[]): string[] {
  return keys.map((key) => {
    if (key.kind === "press") return key.name;
    return key.kind === "text" ? `"${key.text}"` : `[${key.text}]`;
  });
}

function parse(...chunks: readonly (string | Uint8Array)[]): string[] {
  const parser = new KeyParser();
  return told(
    chunks.flatMap((chunk) =>
      parser.feed(typeof chunk === "string" ? encode(chunk) : chunk)
    ),
  );
}

/** What terminals send, by terminal, with default settings if not told. */
const KEYS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "all terminals": [
    ["abc", '"abc"'],
    ["\r", "enter"],
    ["\n", "ctrl-j"],
    ["\r\n", "enter", "ctrl-j"],
    ["a\nb\n", '"a"', "ctrl-j", '"b"', "ctrl-j"],
    ["a\rb", '"a"', "enter", '"b"'],
    ["\t", "tab"],
    ["\x7f", "backspace"],
    ["\x08", "backspace"],
    ["\x01\x1f\x00", "ctrl-a", "ctrl-_", "ctrl-@"],
    ["\x1b[1;5D\x1b[1;3C\x1b[1;2A", "ctrl-left", "alt-right", "shift-up"],
    ["\x1b[1;8D", "ctrl-alt-shift-left"],
    ["\x1bb\x1bé", "alt-b", "alt-é"],
    ["\x1b\r\x1b\n", "alt-enter", "alt-ctrl-j"],
    ["\x1b\x7f", "alt-backspace"],
    ["\x1b\x1bb\x1b\x1b\x1b[A", "escape", "alt-b", "escape", "alt-up"],
    // Sequences without a meaning here.
    ["a\x1b[5~\x1b[99;99X\x1b[?1;2c\x1b[[Ab\x1bOPc", '"a"', '"b"', '"c"'],
    ["\x1b[I\x1b[<0;1;1M\x1b[201~x", '"x"'],
    // Sequences that break off.
    ["\x1b[1;\x01x", "ctrl-a", '"x"'],
    ["\x1b[12汉", '"汉"'],
    ["\x1b]11;\x03\x1b[M!\x03\x1bP1\rx", "ctrl-c", "ctrl-c", "enter", '"x"'],
  ],
  "xterm": [
    ["\x1b[A\x1b[B\x1b[C\x1b[D", "up", "down", "right", "left"],
    ["\x1b[H\x1b[F\x1b[3~", "home", "end", "delete"],
    ["\x1b[1;5D\x1b[1;5C\x1b[3;5~", "ctrl-left", "ctrl-right", "ctrl-delete"],
    ["\x1bOA\x1bOB\x1bOH\x1bOF\x1bOM", "up", "down", "home", "end", "enter"], // DECCKM
    ["\x1b[5D\x1b[5C\x1bO5D", "ctrl-left", "ctrl-right", "ctrl-left"], // of old
  ],
  "modifyOtherKeys": [
    ["\x1b[27;2;13~\x1b[27;5;13~", "shift-enter", "ctrl-enter"],
    ["\x1b[27;5;97~\x1b[27;5;65~\x1b[27;6;65~", "ctrl-a", "ctrl-a", "ctrl-a"],
    ["\x1b[27;3;98~\x1b[27;9;98~\x1b[27;4;66~", "alt-b", "alt-b", "alt-B"],
    ["\x1b[27;6;95~\x1b[27;5;47~\x1b[27;5;55~", "ctrl-_", "ctrl-_", "ctrl-_"],
    ["\x1b[27;2;196~\x1b[27;5~", '"Ä"'],
  ],
  "the kitty protocol": [
    ["\x1b[13;3u\x1b[13u\x1b[27u", "alt-enter", "enter", "escape"],
    ["\x1b[99;5u\x1b[99;5:2u\x1b[99;69u", "ctrl-c", "ctrl-c", "ctrl-c"],
    ["\x1b[99;5:3u\x1b[97;1:3u\x1b[1;1:3A\x1b[3;1:3~"], // released
    ["\x1b[1;1:2A\x1b[3;5:1~", "up", "ctrl-delete"],
    ["\x1b[98;3u\x1b[98:66;4u\x1b[98;7u", "alt-b", "alt-B", "alt-ctrl-b"],
    ["\x1b[105;5u\x1b[109;5u\x1b[106;5u", "tab", "enter", "ctrl-j"],
    ["\x1b[91;5u\x1b[51;5u\x1b[45;6u", "escape", "escape", "ctrl-_"],
    // Keyboards for other alphabets: Cyrillic es, and Greek psi on the key of C.
    [
      "\x1b[1089::99;5u\x1b[968::99;3u\x1b[1089;5u",
      "ctrl-c",
      "alt-c",
      "ctrl-с",
    ],
    // All keys as sequences, with and without the text that they yield.
    ["\x1b[97u\x1b[97;2u\x1b[97;65u\x1b[97;66u", '"a"', '"A"', '"A"', '"a"'],
    ["\x1b[49:33;2u\x1b[97:65;2;65u", '"!"', '"A"'],
    ["\x1b[0;;26085:26412u\x1b[97;;228u", '"日本"', '"ä"'],
    // The keypad.
    ["\x1b[57414u\x1b[57417;5u\x1b[57400u", "enter", "ctrl-left", '"1"'],
    // Modifiers by themselves, media keys, F1, and codes without a character.
    ["\x1b[57442;5u\x1b[57430u\x1b[1;5P\x1b[13~\x1b[u\x1b[?31u"],
    ["\x1b[1;5u\x1b[55296u\x1b[9999999;5u\x1b[0u\x1b[155u"],
  ],
  "urxvt": [
    ["\x1b[7~\x1b[8~\x1b[7$\x1b[3$", "home", "end"],
    ["\x1bOd\x1bOc\x1b[3^", "ctrl-left", "ctrl-right", "ctrl-delete"],
    ["\x1b\x1b[D\x1b\x1b[C", "alt-left", "alt-right"],
  ],
  "PuTTY": [
    ["\x1b[1~\x1b[4~\x1b\x1b[D", "home", "end", "alt-left"],
    ["\x1bOD\x1bOC", "ctrl-left", "ctrl-right"],
  ],
  "iTerm2": [["\x1b[1;9D\x1b[1;9C", "alt-left", "alt-right"]],
};
for (const [terminal, keys] of Object.entries(KEYS)) {
  Deno.test(`KeyParser knows the keys of ${terminal}, and skips other sequences`, () => {
    for (const [input = "", ...names] of keys) {
      assertEquals(parse(input), names, JSON.stringify(input));
    }
  });
}

/** What a terminal sends because another program asked, or listened to the mouse. */
const ANSWERS = [
  "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", // OSC: a colour
  "\x1b]52;c;" + "QUJD".repeat(25_000) + "\x07", // the clipboard
  "\x1bP>|XTerm(390)\x1b\\", // DCS: a version
  "\x1b_Gi=31;OK\x1b\\", // APC: a picture
  "\x1b^private\x1b\\\x1bXany\x07", // PM, SOS
  "\x1b[M !!\x1b[M#\x7f~", // the mouse: X10
  "\x1b[<0;10;10M\x1b[<0;10;10m\x1b[32;10;10M", // SGR, urxvt
  "\x1b[?1036;1$y\x1b[?62;22c\x1b[2;1R\x1b[I", // a mode, what it is, the cursor, focus
];
Deno.test("KeyParser types nothing of an answer to another program, wherever it is cut", () => {
  for (const answer of ANSWERS) {
    for (let cut = 2; cut < Math.min(answer.length, 300); cut++) {
      const keys = parse(answer.slice(0, cut), answer.slice(cut), "x");
      assertEquals(keys, ['"x"'], JSON.stringify(answer.slice(0, 300)));
    }
  }
});

Deno.test("KeyParser hands a paste on as it is, with \\n for each line end", () => {
  assertEquals(
    parse("\x1b[200~a\rb\r\nc\n\td\x1b[A\x03\x1b[201~e"),
    ["[a\nb\nc\n\td\x1b[A\x03]", '"e"'],
  );
});

Deno.test("KeyParser hands on what has come of a paste without an end", () => {
  const parser = new KeyParser();
  assertEquals(told(parser.feed(encode("\x1b[200~one\r"))), ["[one\n]"]);
  assertEquals(told(parser.feed(encode("\ntwo\x1b[20"))), ["[two]"]);
  assertFalse(parser.isAmbiguous);
  assertEquals(told(parser.feed(encode("1;"))), ["[\x1b[201;]"]);
  parser.reset();
  assertEquals(told(parser.feed(encode("a\r"))), ['"a"', "enter"]);
});

Deno.test("KeyParser yields U+FFFD for bytes that are not UTF-8, and continues", () => {
  assertEquals(parse(Uint8Array.of(0x61, 0xff, 0xe6, 0xb1, 0x62, 0x0d)), [
    '"a\ufffd\ufffdb"',
    "enter",
  ]);
});

Deno.test("KeyParser keeps a byte order mark and other C1 text", () => {
  assertEquals(parse("\ufeffa\u0085b"), ['"\ufeffa"', '"\u0085b"']);
});

const HELD = [
  ...[["\x1b", "escape"], ["\x1b\x1b", "escape", "escape"]],
  ...["[", "O", "P", "X", "]", "^", "_"].map((start) => [`\x1b${start}`]),
];
Deno.test("KeyParser.flush() yields Escape once or twice, and drops Alt with the start of a sequence", () => {
  const parser = new KeyParser();
  for (const [held = "", ...keys] of HELD) {
    assertEquals(parser.feed(encode(held)), []);
    assert(parser.isAmbiguous);
    assertEquals(told(parser.flush()), keys);
    assertFalse(parser.isAmbiguous);
  }
});

Deno.test("KeyParser waits for the rest of a sequence that cannot be a key by itself", () => {
  const parser = new KeyParser();
  parser.feed(encode("\x1b[20"));
  assertFalse(parser.isAmbiguous);
  assertEquals(told(parser.feed(encode("0~x"))), ["[x]"]);
});

Deno.test("KeyParser yields the same keys wherever its input is cut", () => {
  const part = fc.oneof(
    fc.constantFrom(...Object.values(KEYS).flat())
      .map(([input = ""]) => encode(input)),
    fc.constantFrom("\x1b[200~", "\x1b[201~", "\r", "\x1b", "汉", "👍🏽")
      .map(encode),
    fc.uint8Array(),
  );
  fc.assert(fc.property(
    fc.array(part).map((parts) =>
      Uint8Array.from([...parts, encode("\x1b[201~.")].flatMap((p) => [...p]))
    ),
    fc.array(fc.nat()),
    (bytes, cuts) => {
      const ends = [...cuts.map((cut) => cut % bytes.length), bytes.length]
        .sort((a, b) => a - b);
      const chunks = ends.map((end, i) =>
        bytes.subarray(ends[i - 1] ?? 0, end)
      );
      assertEquals(merged(parse(...chunks)), merged(parse(bytes)));
    },
  ));
});

/** Joins text and pastes that were cut, even within `\r\n`. */
function merged(keys: readonly string[]): string {
  return keys.join("").replaceAll('""', "").replaceAll("][", "");
}

/** What a keyboard has: a key and the modifiers that are held. */
interface Chord {
  readonly key: string;
  readonly isCtrl: boolean;
  readonly isAlt: boolean;
  readonly isShift: boolean;
}

const chordOf = (name: string): Chord => {
  const [, modifiers = "", key = ""] =
    /^((?:(?:ctrl|alt|shift)-)*)(.+)$/.exec(name) ?? [];
  const isHeld = (modifier: string) => modifiers.includes(modifier);
  return {
    key,
    isCtrl: isHeld("ctrl-"),
    isAlt: isHeld("alt-"),
    isShift: isHeld("shift-"),
  };
};

const CODES: Readonly<Record<string, number>> = {
  enter: 13,
  tab: 9,
  escape: 27,
  backspace: 127,
};
const LETTERS: Readonly<Record<string, string>> = {
  up: "A",
  down: "B",
  right: "C",
  left: "D",
  end: "F",
  home: "H",
};

/** The parameter for modifiers: 1 and the sum of 1, 2 and 4. */
function modifiersOf({ isCtrl, isAlt, isShift }: Chord): number {
  return 1 + (isShift ? 1 : 0) + (isAlt ? 2 : 0) + (isCtrl ? 4 : 0);
}

/** The sequence of a key that has one of its own, such as an arrow. */
function ownSequence(chord: Chord, event = ""): string | undefined {
  const modifiers = `${modifiersOf(chord)}${event}`;
  const isPlain = modifiers === "1";
  if (chord.key === "delete") return `\x1b[3${isPlain ? "" : `;${modifiers}`}~`;
  const letter = LETTERS[chord.key];
  if (letter === undefined) return undefined;
  return `\x1b[${isPlain ? "" : `1;${modifiers}`}${letter}`;
}

/** What terminals send without a protocol; `undefined` where that is another key. */
function asBytes(chord: Chord): string | undefined {
  const { key, isCtrl, isAlt, isShift } = chord;
  const own = ownSequence(chord);
  if (own !== undefined) return own;
  const escape = isAlt ? "\x1b" : "";
  const code = CODES[key];
  if (code !== undefined) {
    return isCtrl || isShift ? undefined : escape + String.fromCharCode(code);
  }
  const byte = key.toUpperCase().charCodeAt(0) & 0x1f;
  return escape + (isCtrl ? String.fromCharCode(byte) : key);
}

/** The kitty protocol that only tells apart what bytes do not ("disambiguate"). */
function asKitty1(chord: Chord): string {
  const isText = ["enter", "tab", "backspace"].includes(chord.key);
  const modifiers = modifiersOf(chord);
  if (isText && modifiers === 1) return asBytes(chord) ?? "";
  const code = CODES[chord.key] ?? chord.key.charCodeAt(0);
  return ownSequence(chord) ?? `\x1b[${code};${modifiers}u`;
}

/** The kitty protocol with everything that it has: press and release. */
function asKitty31(chord: Chord): string {
  const { key } = chord;
  const code = CODES[key] ?? key.charCodeAt(0);
  const upper = key.toUpperCase().charCodeAt(0);
  const codes = key in CODES ? code : `${code}:${upper}:${code}`;
  return [1, 2, 3].map((event) =>
    ownSequence(chord, `:${event}`) ??
      `\x1b[${codes};${modifiersOf(chord)}:${event}u`
  ).join("");
}

/** xterm's modifyOtherKeys, which leaves keys alone that have no modifiers. */
function asOtherKey(chord: Chord): string {
  const code = CODES[chord.key] ?? chord.key.charCodeAt(0);
  const modifiers = modifiersOf(chord);
  if (modifiers === 1) return asBytes(chord) ?? "";
  return ownSequence(chord) ?? `\x1b[27;${modifiers};${code}~`;
}

/** The same for modifyOtherKeys 1, which sends the usual control characters as bytes. */
function asOtherKey1(chord: Chord): string {
  const { key, isCtrl, isAlt } = chord;
  const isKnown = isCtrl && !isAlt && key.length === 1;
  return isKnown ? asBytes(chord) ?? "" : asOtherKey(chord);
}

/** Keys with an effect outside of the text, and in a search. */
const OTHER_KEYS = [
  ...["enter", "escape", "tab", "ctrl-c", "ctrl-d", "ctrl-\\", "ctrl-l"],
  ...["ctrl-z", "ctrl-g"],
];

for (
  const [encoding, send] of Object.entries({
    "bytes": asBytes,
    "the kitty protocol with flag 1": asKitty1,
    "modifyOtherKeys 1": asOtherKey1,
    "modifyOtherKeys 2": asOtherKey,
  })
) {
  Deno.test(`KeyParser knows every key of the program in ${encoding}`, () => {
    for (const name of [...Object.keys(COMMANDS), ...OTHER_KEYS]) {
      const sent = send(chordOf(name));
      if (sent === undefined) continue;
      const parser = new KeyParser();
      const keys = [...parser.feed(encode(sent)), ...parser.flush()];
      assertEquals(told(keys), [name]);
    }
  });
}

Deno.test("KeyParser knows every key of the program in the kitty protocol with all flags, where it is pressed and repeated, not where it is released", () => {
  for (const name of [...Object.keys(COMMANDS), ...OTHER_KEYS]) {
    assertEquals(parse(asKitty31(chordOf(name))), [name, name]);
  }
});

Deno.test("KeyParser ends a sequence of any length at a control character", () => {
  for (const start of ["\x1b[", "\x1b]"]) {
    const parser = new KeyParser();
    assertEquals(parser.feed(encode(start + "1".repeat(1_000_000))), []);
    assertFalse(parser.isAmbiguous);
    assertEquals(told(parser.feed(encode("1\r2"))), ["enter", '"2"']);
  }
});
