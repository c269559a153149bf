import { assert, assertEquals } from "@std/assert";
import { errorDetail } from "../../../lib/gateway/http/error_words.ts";
import { plainLine } from "../../../lib/text/plain_text.ts";
import { Redactor } from "../../../lib/text/redactor.ts";
import { blocksOf } from "../../support/blocks.ts";
import fc from "../../support/generated.ts";
import { longestPiece } from "../../support/key_pieces.ts";
import { times } from "../../support/repetitions.ts";
import { testRows } from "../../support/tables.ts";

const KEY = "test-key-0123456789abcdef";

/** Texts, how they are shown, and as the name of a node; `{x*501}` is 501 times x. */
const TEXTS = blocksOf(String.raw`
\u0020 No\ttea\r\n\n today\u0020
  No tea today
a\u001b[31mb\u0007c\u202e
  abc
{x*501}
  {x*500}
{x*499}👩
  {x*499}
\ud83d é \ude00
  \ufffd é \ufffd
  \ufffd é \ufffd
Unknown: test-key-0123456789abcdef.
  Unknown: ....
  Unknown: ....
İ TEST-KEY-0123456789ABCDEF İ
  İ ... İ
  İ ... İ
test-key-0123456789abcdeftest-key-0123456789abcdef
  ...
  ...
test-key-012 23456789abcdef
  ... ...
  ... ...
xtest-key-01
  xtest-key-01
  xtest-key-01
a test-key-\u001b[0m012345678\u001b[0m9abcdef\n
  a ...
  a ...\u0020
\u0007test-key-0123456789abcdef
  ...
  \u0007...
\u0007 a\nb
  a b
  \u0007 a\nb
{é*10000}
  {é*500}
  {é*8192}
{😀*5000}
  {😀*250}
  {😀*4096}
`);

Deno.test("texts are shown clean on one line, names as they are, and both bounded, in whole characters, without pieces of the key", () => {
  const redactor = new Redactor(KEY);
  const repeated = (text = "") =>
    text.replace(/\{(.+)\*(\d+)\}/, (_, it, count) => it.repeat(count));
  for (const [text, [line, name]] of TEXTS) {
    const long = repeated(text);
    assertEquals<string>(redactor.show(long), repeated(line));
    if (name !== undefined) {
      assertEquals<string>(redactor.showName(long), repeated(name));
    }
  }
  assertEquals<string>(redactor.show("x".repeat(200), 100), "x".repeat(100));
});

testRows(
  "a key shorter than twelve characters is left out as a whole, in any case, from six characters on: {key}",
  "key | text | shown",
  String.raw`
secret          | a SECRET, secre             | a ..., secre
$/.]^-\$        | a$/.]^-\$b $/.]^-\          | a...b $/.]^-\
seven7-eigh     | seven7-eig h                | seven7-eig h
short           | a short one                 | a short one
                | a text                      | a text
abcdef...ghijkl | abc0abcdef...ghijklghijkl   | abc0...ghijkl
abc...defghijk  | abcabc...defghijkdefghijk   | ...
`,
  ({ key, text, shown }) => {
    assertEquals<string>(new Redactor(key).show(text), shown);
  },
);

testRows(
  "isInId() finds the whole key in any case, also where an id is cleaned, and no piece of it: {id}",
  "key | id | isIn",
  String.raw`
some-key1 | id-SOME-KEY1 | true
some-key1 | id-so\me-key1 | true
some-key1 | id-ome-key1  | false
$a-key    | an $A-KEY    | true
$key      | a$key        | false
`,
  ({ key, id, isIn }) => {
    const dirty = id.replace("\\", "\x07");
    assertEquals(`${new Redactor(key).isInId(dirty)}`, isIn);
  },
);

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
