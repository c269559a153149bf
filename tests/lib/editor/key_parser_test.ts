import { assert, assertEquals, assertFalse } from "@std/assert";
import type { Key } from "../../../lib/editor/key.ts";
import { COMMANDS } from "../../../lib/editor/key_commands.ts";
import { KeyParser } from "../../../lib/editor/key_parser.ts";
import fc from "../../support/generated.ts";
import { fromCarets, keyRows } from "../../support/scripts.ts";

const encode = (text: string) => new TextEncoder().encode(fromCarets(text));

/** The names of keys, text in quotes, and pastes in brackets. */
function told(keys: readonly Key[]): string {
  return keys.map((key) => {
    if (key.kind === "press") return key.name;
    return key.kind === "text" ? `"${key.text}"` : `[${key.text}]`;
  }).join(" ");
}

function keysOf(...chunks: readonly Uint8Array[]): readonly Key[] {
  const parser = new KeyParser();
  return chunks.flatMap((chunk) => parser.feed(chunk));
}

function parse(...chunks: readonly (string | Uint8Array)[]): string {
  const bytes = chunks.map((chunk) =>
    typeof chunk === "string" ? encode(chunk) : chunk
  );
  return told(keysOf(...bytes));
}

/**
 * Each key with an effect, as terminals send it: as bytes, in the kitty protocol with
 * flag 1, and with modifyOtherKeys, as far as these differ.
 */
const NAMED = keyRows(String.raw`
  ctrl-j           ^J        ^[[106;5u  ^[[27;5;106~
  alt-enter        ^[^M      ^[[13;3u   ^[[27;3;13~
  shift-enter      ^[[13;2u  ^[[27;2;13~
  ctrl-enter       ^[[13;5u  ^[[27;5;13~
  alt-ctrl-j       ^[^J      ^[[106;7u  ^[[27;7;106~
  left             ^[[D
  right            ^[[C
  ctrl-b           ^B        ^[[98;5u   ^[[27;5;98~
  ctrl-f           ^F        ^[[102;5u  ^[[27;5;102~
  ctrl-left        ^[[1;5D
  ctrl-right       ^[[1;5C
  alt-left         ^[[1;3D
  alt-right        ^[[1;3C
  alt-b            ^[b       ^[[98;3u   ^[[27;3;98~
  alt-f            ^[f       ^[[102;3u  ^[[27;3;102~
  home             ^[[H
  end              ^[[F
  ctrl-a           ^A        ^[[97;5u   ^[[27;5;97~
  ctrl-e           ^E        ^[[101;5u  ^[[27;5;101~
  backspace        ^?
  shift-backspace  ^[[127;2u  ^[[27;2;127~
  ctrl-backspace   ^[[127;5u  ^[[27;5;127~
  delete           ^[[3~
  ctrl-d           ^D        ^[[100;5u  ^[[27;5;100~
  ctrl-k           ^K        ^[[107;5u  ^[[27;5;107~
  ctrl-u           ^U        ^[[117;5u  ^[[27;5;117~
  ctrl-w           ^W        ^[[119;5u  ^[[27;5;119~
  alt-backspace    ^[^?      ^[[127;3u  ^[[27;3;127~
  alt-d            ^[d       ^[[100;3u  ^[[27;3;100~
  ctrl-delete      ^[[3;5~
  ctrl-y           ^Y        ^[[121;5u  ^[[27;5;121~
  ctrl-t           ^T        ^[[116;5u  ^[[27;5;116~
  ctrl-_           ^_        ^[[95;5u   ^[[27;5;95~
  up               ^[[A
  down             ^[[B
  ctrl-p           ^P        ^[[112;5u  ^[[27;5;112~
  ctrl-n           ^N        ^[[110;5u  ^[[27;5;110~
  ctrl-r           ^R        ^[[114;5u  ^[[27;5;114~
  enter            ^M
  escape           ^[        ^[[27;1u
  tab              ^I
  ctrl-c           ^C        ^[[99;5u   ^[[27;5;99~
  ctrl-\           ^\        ^[[92;5u   ^[[27;5;92~
  ctrl-l           ^L        ^[[108;5u  ^[[27;5;108~
  ctrl-z           ^Z        ^[[122;5u  ^[[27;5;122~
  ctrl-g           ^G        ^[[103;5u  ^[[27;5;103~
`);
Deno.test("KeyParser knows every key of the program in each encoding", () => {
  for (const [name = "", ...encodings] of NAMED) {
    for (const input of encodings) {
      const parser = new KeyParser();
      const keys = [...parser.feed(encode(input)), ...parser.flush()];
      assertEquals(told(keys), name, input);
    }
  }
  const names = new Set(NAMED.map(([name]) => name));
  assertEquals(Object.keys(COMMANDS).filter((name) => !names.has(name)), []);
});

/** What terminals send, the keys that it is, and which terminals, or why. */
const KEYS = keyRows(String.raw`
  abc                          "abc"
  ^M^J                         enter ctrl-j
  a^Jb^J                       "a" ctrl-j "b" ctrl-j
  a^Mb                         "a" enter "b"
  ^H                           backspace
  ^_^@                         ctrl-_ ctrl-@
  ^[[1;2A^[[1;8D               shift-up ctrl-alt-shift-left
  ^[bé^[é                      alt-b "é" alt-é
  ^[^[b^[^[^[[A                escape alt-b escape alt-up
  a^[[5~^[[99;99X^[[?1;2cb     "a" "b"            without a meaning here
  ^[[[Aa^[OPb^[[I^[[<0;1;1M    "a" "b"
  ^[[201~x                     "x"
  ^[[1;^Ax                     ctrl-a "x"         sequences that break off
  ^[[12汉                      "汉"
  ^[]11;^C^[[M!^C^[P1^Mx       ctrl-c ctrl-c enter "x"
  ^[[3;5~^[[5D^[[5C^[O5D       ctrl-delete ctrl-left ctrl-right ctrl-left  xterm
  ^[OA^[OB^[OH^[OF^[OM         up down home end enter                      DECCKM
  ^[[27;5;65~^[[27;6;65~       ctrl-a ctrl-a      modifyOtherKeys
  ^[[27;9;98~^[[27;4;66~       alt-b alt-B
  ^[[27;6;95~^[[27;5;47~       ctrl-_ ctrl-_
  ^[[27;5;55~^[[27;2;196~      ctrl-_ "Ä"
  ^[[27;5~                     -
  ^[[13u^[[99;5:2u^[[99;69u    enter ctrl-c ctrl-c  the kitty protocol
  ^[[98:66;4u^[[98;7u          alt-B alt-ctrl-b
  ^[[105;5u^[[109;5u           tab enter
  ^[[91;5u^[[51;5u^[[45;6u     escape escape ctrl-_
  ^[[1;1:2A^[[3;5:1~           up ctrl-delete
  ^[[99;5:3u^[[97;1:3u         -                  released
  ^[[1;1:3A^[[3;1:3~           -
  ^[[1089::99;5u^[[968::99;3u  ctrl-c alt-c       Cyrillic, Greek
  ^[[1089;5u                   ctrl-с
  ^[[97u^[[97;2u^[[97;65u      "a" "A" "A"        all keys as sequences
  ^[[97;66u^[[49:33;2u         "a" "!"
  ^[[97:65;2;65u^[[97;;228u    "A" "ä"            with the text that they yield
  ^[[0;;26085:26412u           "日本"
  ^[[57414u^[[57417;5u         enter ctrl-left    the keypad
  ^[[57400u                    "1"
  ^[[57442;5u^[[57430u         -                  a modifier alone, a media key
  ^[[1;5P^[[13~^[[u^[[?31u     -
  ^[[1;5u^[[55296u^[[0u        -                  codes without a character
  ^[[9999999;5u^[[155u         -
  ^[[7~^[[8~^[[7$^[[3$         home end           urxvt
  ^[Od^[Oc^[[3^                ctrl-left ctrl-right ctrl-delete
  ^[^[[D^[^[[C                 alt-left alt-right
  ^[[1~^[[4~^[OD^[OC           home end ctrl-left ctrl-right               PuTTY
  ^[[1;9D^[[1;9C               alt-left alt-right                          iTerm2
`);
Deno.test("KeyParser knows the keys of terminals, and skips other sequences", () => {
  for (const [input = "", keys] of KEYS) {
    assertEquals(parse(input) || "-", keys, input);
  }
});

/** What a terminal sends because another program asked, or listened to the mouse. */
const ANSWERS = String.raw`
  ^[]11;rgb:1e1e/1e1e/1e1e^[\   OSC: a colour
  ^[P>|XTerm(390)^[\            DCS: a version
  ^[_Gi=31;OK^[\                APC: a picture
  ^[^private^[\                 PM
  ^[Xany^G                      SOS
  ^[[M(!!^[[M#^?~               the mouse: X10
  ^[[<0;10;10M^[[<0;10;10m      SGR
  ^[[32;10;10M                  urxvt
  ^[[?1036;1$y^[[?62;22c        a mode, what it is
  ^[[2;1R^[[I                   the cursor, focus
`;
Deno.test("KeyParser types nothing of an answer to another program, wherever it is cut", () => {
  const clipboard = `^[]52;c;${"QUJD".repeat(25_000)}^G`;
  for (const [row = ""] of [...keyRows(ANSWERS), [clipboard]]) {
    const answer = fromCarets(row);
    for (let cut = 2; cut < Math.min(answer.length, 300); cut++) {
      const keys = parse(answer.slice(0, cut), answer.slice(cut), "x");
      assertEquals(keys, '"x"', row.slice(0, 300));
    }
  }
});

Deno.test("KeyParser hands a paste on as it is, with \\n for each line end", () => {
  const keys = parse("^[[200~a^Mb^M^Jc^J^Id^[[A^C^[[201~e");
  assertEquals(keys, fromCarets('[a^Jb^Jc^J^Id^[[A^C] "e"'));
});

Deno.test("KeyParser hands on what has come of a paste without an end", () => {
  const parser = new KeyParser();
  const READS = [
    ["^[[200~one^M", "[one\n]"],
    ["^Jtwo^[[20", "[two]"],
    ["1;", "[\x1b[201;]"],
  ] as const;
  for (const [input, keys] of READS) {
    assertEquals(told(parser.feed(encode(input))), keys);
    assertFalse(parser.isAmbiguous);
  }
});

Deno.test("KeyParser yields U+FFFD for bytes that are not UTF-8, and keeps a byte order mark and C1 text", () => {
  const bytes = Uint8Array.of(0x61, 0xff, 0xe6, 0xb1, 0x62, 0x0d);
  assertEquals(parse(bytes), '"a\ufffd\ufffdb" enter');
  assertEquals(parse("\ufeffa\u0085b"), '"\ufeffa" "\u0085b"');
});

Deno.test("KeyParser.flush() yields Escape once or twice, and drops Alt with the start of a sequence", () => {
  const parser = new KeyParser();
  for (const held of ["", ...String.raw`^[ [ O P X ] ^ _`.split(" ")]) {
    const input = encode(`^[${held}`);
    assertEquals(parser.feed(input), []);
    assert(parser.isAmbiguous);
    const keys = { "": "escape", "^[": "escape escape" }[held] ?? "";
    assertEquals(told(parser.flush()), keys);
    assertFalse(parser.isAmbiguous);
  }
});

Deno.test("KeyParser waits for the rest of a sequence that cannot be a key by itself", () => {
  const parser = new KeyParser();
  parser.feed(encode("^[[20"));
  assertFalse(parser.isAmbiguous);
  assertEquals(told(parser.feed(encode("0~x"))), "[x]");
});

Deno.test("KeyParser yields the same keys wherever its input is cut", () => {
  const part = fc.oneof(
    fc.constantFrom(...KEYS).map(([input = ""]) => encode(input)),
    fc.constantFrom("^[[200~", "^[[201~", "^M", "^[", "汉", "👍🏽")
      .map(encode),
    fc.uint8Array(),
  );
  fc.assert(fc.property(
    fc.array(part).map((parts) =>
      Uint8Array.from([...parts, encode("^[[201~.")].flatMap((p) => [...p]))
    ),
    fc.array(fc.nat()),
    (bytes, cuts) => {
      const ends = [...cuts.map((cut) => cut % bytes.length), bytes.length]
        .sort((a, b) => a - b);
      const chunks = ends.map((end, i) =>
        bytes.subarray(ends[i - 1] ?? 0, end)
      );
      assertEquals(merged(keysOf(...chunks)), merged(keysOf(bytes)));
    },
  ));
});

/** The kinds and texts of keys; texts, and pastes, that follow each other are one. */
function merged(keys: readonly Key[]): readonly string[][] {
  const all: [Key["kind"], string][] = [];
  for (const key of keys) {
    const text = key.kind === "press" ? key.name : key.text;
    const last = all.at(-1);
    if (key.kind !== "press" && last?.[0] === key.kind) last[1] += text;
    else all.push([key.kind, text]);
  }
  return all;
}

Deno.test("KeyParser ends a sequence of any length at a control character", () => {
  for (const start of ["^[[", "^[]"]) {
    const parser = new KeyParser();
    assertEquals(parser.feed(encode(start + "1".repeat(1_000_000))), []);
    assertFalse(parser.isAmbiguous);
    assertEquals(told(parser.feed(encode("1^M2"))), 'enter "2"');
  }
});
