import { assert, assertEquals } from "@std/assert";
import { errorDetail } from "../../../lib/gateway/http/error_words.ts";
import { plainLine } from "../../../lib/text/plain_text.ts";
import { Redactor } from "../../../lib/text/redactor.ts";
import fc from "../../support/generated.ts";
import { longestPiece } from "../../support/key_pieces.ts";
import { times } from "../../support/repetitions.ts";
import { redacted } from "../../support/texts.ts";

const KEY = "test-key-0123456789abcdef";

/** Texts, how they are shown, and how they are as the name of a node. */
const TEXTS: readonly (readonly [text: string, line: string, name?: string])[] =
  [
    ["  No\ttea\r\n\n today ", "No tea today"],
    ["a\x1b[31mb\x07c\u202e", "abc"],
    ["x".repeat(501), "x".repeat(500)],
    [`${"x".repeat(499)}👩`, "x".repeat(499)],
    ["\ud83d é \ude00", "\ufffd é \ufffd", "\ufffd é \ufffd"],
    [`Unknown: ${KEY}.`, "Unknown: ....", "Unknown: ...."],
    [`İ ${KEY.toUpperCase()} İ`, "İ ... İ", "İ ... İ"],
    [KEY + KEY, "...", "..."],
    [`${KEY.slice(0, 12)} ${KEY.slice(-12)}`, "... ...", "... ..."],
    [`x${KEY.slice(0, 11)}`, `x${KEY.slice(0, 11)}`, `x${KEY.slice(0, 11)}`],
    [`a ${KEY.replace(/.{9}/g, "$&\x1b[0m")}\n`, "a ...", "a ... "],
    [`\x07${KEY}`, "...", "\x07..."],
    ["\x07 a\nb", "a b", "\x07 a\nb"],
    ["é".repeat(10_000), "é".repeat(500), "é".repeat(8192)],
    ["😀".repeat(5000), "😀".repeat(250), "😀".repeat(4096)],
  ];

Deno.test("texts are shown clean on one line, names as they are, and both bounded, in whole characters, without pieces of the key", () => {
  const redactor = new Redactor(KEY);
  for (const [text, line, name] of TEXTS) {
    assertEquals(redactor.show(text), line);
    if (name !== undefined) assertEquals(redactor.showName(text), name);
  }
  assertEquals(redactor.show("x".repeat(200), 100), "x".repeat(100));
});

Deno.test("a key shorter than twelve characters is left out as a whole, in any case, from six characters on", () => {
  for (
    const [key, text, shown] of [
      ["secret", "a SECRET, secre", "a ..., secre"],
      ["$/.]^-\\$", "a$/.]^-\\$b $/.]^-\\", "a...b $/.]^-\\"],
      ["seven7-eigh", "seven7-eig h", "seven7-eig h"],
      ["short", "a short one", "a short one"],
      ["", "a text", "a text"],
      ["abcdef...ghijkl", "abc0abcdef...ghijklghijkl", "abc0...ghijkl"],
      ["abc...defghijk", "abcabc...defghijkdefghijk", "..."],
    ] as const
  ) assertEquals(new Redactor(key).show(text), redacted(shown), key);
});

Deno.test("isInId() finds the whole key in any case, also where an id is cleaned, and no piece of it", () => {
  for (
    const [key, id, isIn] of [
      [KEY, `id-${KEY.toUpperCase()}`, true],
      [KEY, `id-${KEY.replace("k", "\x07k")}`, true],
      [KEY, `id-${KEY.slice(1)}`, false],
      ["$a-key", "an $A-KEY", true],
      ["$key", "a$key", false],
    ] as const
  ) assertEquals(new Redactor(key).isInId(id), isIn, id);
});

/** Keys that look like real ones. */
const KEYS = [
  KEY,
  "5f1c2d3e-4b5a-6978-8796-a5b4c3d2e1f0",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27u",
  `p@ss"w<o&r>d'$12345678%`,
  "\\back\\slash_0123456\\",
];

const hex = (it: string) => it.charCodeAt(0).toString(16).padStart(2, "0");
type Spelling = (text: string) => string;
const symbols = (encode: Spelling): Spelling => (text) =>
  text.replace(/[^\w-]/g, encode);
const each = (mark: string): Spelling => (text) =>
  text.replaceAll(/./g, `${mark}$&`);

/** How services write a key. */
const SPELLINGS: readonly Spelling[] = [
  (text) => text,
  (text) => text.toUpperCase(),
  symbols((it) => `\\u00${hex(it)}`), // JSON of .NET
  (text) => encodeURIComponent(encodeURIComponent(text)),
  symbols((it) => `&#x${hex(it)};`), // HTML
  each("\x1b[31m"), // a colour for each character
  each("\u202e"), // right to left
];

/** How keys are cut, some with marks that say so. */
const CUTS: readonly Spelling[] = [
  (key) => key,
  (key) => key.slice(0, -4) + "...",
  (key) => key.slice(3),
  (key) => `${key.slice(0, 15)}...${key.slice(-13)}`, // pydantic
  (key) => `${key.slice(0, 4)}****${key.slice(8)}`,
];

/** The error bodies of frameworks, as they quote a value, which is `?` here. */
const BODIES = [
  '{"message":"Incorrect API key provided: ?."}',
  // FastAPI
  '{"detail":[{"type":"string_type","loc":["header","x-api-key"],"msg":"Value error, got ?","input":"?"}]}',
  // str() of a ValidationError of pydantic
  `{"detail":"1 validation error for Auth\\nkey\\n  Value error [type=value_error, input_value='?', input_type=str]"}`,
  // zod
  `{"error":{"issues":[{"code":"custom","path":["key"],"message":"?"}],"name":"ZodError","message":"[{'code':'custom','message':'Invalid ?'}]"}}`,
  // ASP.NET
  `{"title":"One or more validation errors occurred.","status":400,"errors":{"key":["The value '?' is not valid."]}}`,
  // Spring
  '{"timestamp":"2026-11-28T16:00:00.000+00:00","status":401,"error":"Unauthorized","message":"Bad credentials: ?","path":"/threads"}',
];

/** Asserts that a text shows fewer characters in a row, also as a terminal shows it. */
function assertShown(text: string, key: string, most: number): void {
  const redactor = new Redactor(key);
  for (const shown of [redactor.show(text), redactor.showName(text)]) {
    for (const it of [shown, plainLine(shown)]) {
      assert(longestPiece(it, key) < most, JSON.stringify([key, text]));
    }
    assert(shown.isWellFormed());
  }
}

Deno.test("of 1,050 echoes of a key, at most eleven characters in a row are shown", () => {
  for (const key of KEYS) {
    for (const spell of SPELLINGS) {
      for (const cut of CUTS) {
        const value = JSON.stringify(spell(cut(key))).slice(1, -1);
        for (const body of BODIES) {
          const json = JSON.parse(body.replaceAll("?", () => value));
          assertShown(errorDetail(json) ?? "", key, 12);
        }
      }
    }
  }
});

Deno.test("whatever a text holds, at most eleven characters of the key in a row are shown", () => {
  const character = fc.constantFrom(..."aAbB.-\x1b[m\x07\u0130\ud83d é\n");
  const key = fc.string({
    unit: fc.constantFrom(..."aAbB.-[m"),
    minLength: 6,
    maxLength: 30,
  });
  const property = fc.property(
    key,
    fc.array(
      fc.oneof(character, fc.tuple(fc.nat(30), fc.nat(30))),
      { maxLength: 20 },
    ),
    (key, parts) => {
      const text = parts.map((it) =>
        typeof it === "string" ? it : key.slice(...it)
      ).join("");
      assertShown(text, key, Math.min(12, key.length));
    },
  );
  fc.assert(property, { numRuns: times(200_000) });
});

Deno.test("guards against echoes, not against a service that wants to show the key", () => {
  const redactor = new Redactor(KEY);
  for (const text of [btoa(KEY), each("\u200b")(KEY)]) {
    assertEquals(redactor.show(text), text);
  }
});

Deno.test("ordinary texts are shown as they are, unless a key begins with a word of twelve characters in them", () => {
  const text = ["README.md", "SECURITY.md", "docs/service.md"]
    .map((name) => `${import.meta.dirname}/../../../${name}`)
    .map((file) => Deno.readTextFileSync(file)).join("") +
    "\nUnknown acme-prod-thread-1. Keys begin with sk-proj- or sk-ant-api.";
  const isShown = (key: string) =>
    text.split("\n").every((line) => new Redactor(key).showName(line) === line);
  const keys = [
    ...["acme-prod-7f3a91c2", "sk-proj-Ab3_dEf6hIj9kLm2nOp5"],
    ...["sk-ant-api03-5f1c2d3e4b5a", "the-brain-7f3a91c2"],
  ];
  assertEquals(keys.filter(isShown), keys);
  assertEquals(isShown("agent-gateway-5f1c2d3e"), false);
});

Deno.test("takes linear time, whatever key and text hold", () => {
  for (const unit of ["a", "ab", "-", "$"]) {
    const text = unit.repeat(1_000_000 / unit.length);
    for (const key of [`${unit.repeat(8_000)}b`, `b${unit.repeat(8_000)}`]) {
      const redactor = new Redactor(key);
      assertEquals(redactor.show(text), "...");
      assertEquals(redactor.showName(text), "...");
      redactor.isInId(text.slice(0, 1024));
    }
  }
});
