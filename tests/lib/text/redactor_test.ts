import { assertEquals } from "@std/assert";
import { Redactor } from "../../../lib/text/redactor.ts";
import fc from "../../support/generated.ts";

const KEY = "test-key-0123456789abcdef";
const LEFT_OUT = "left out, because it may contain the API key";

const TEXTS: Readonly<Record<string, string>> = {
  "  No\ttea\r\n\n today ": "No tea today",
  "a\x1b[31mb\x07c\u202e": "abc",
  ["x".repeat(501)]: "x".repeat(500),
  [`${"x".repeat(499)}👩`]: `${"x".repeat(499)}\ufffd`,
  [`Unknown: ${KEY}.`]: LEFT_OUT,
  [`Unknown: ${KEY.toUpperCase()}.`]: LEFT_OUT,
  ["x".repeat(600) + KEY]: LEFT_OUT,
  [KEY.replace("-", "\x1b[0m-\x07")]: LEFT_OUT,
  [KEY.slice(0, 20)]: KEY.slice(0, 20),
};

Deno.test("show() returns one clean line of 500 characters, or nothing of a text with the key", () => {
  const redactor = new Redactor(KEY);
  const shown = Object.keys(TEXTS).map((text) => redactor.show(text));
  assertEquals(shown, Object.values(TEXTS));
});

Deno.test("show() leaves out a text that is cut where the key's run may have begun", () => {
  const redactor = new Redactor(`$${KEY}`);
  for (const length of [4, 5, 16, 24]) {
    const text = `end ${KEY.slice(0, length).toUpperCase()}`;
    assertEquals(redactor.show(text, { isCut: true }), LEFT_OUT);
    assertEquals(redactor.show(text), text);
  }
  for (const text of ["end tes", "end test-kez", "end"]) {
    assertEquals(redactor.show(text, { isCut: true }), text);
  }
  const wide = " ".repeat(64 * 1024 - 16) + KEY; // more than is looked at
  assertEquals(redactor.show(wide), LEFT_OUT);
});

Deno.test("show() never quotes a service whose key has no run of eight characters", () => {
  const redactor = new Redactor("seven77/$/seven77");
  assertEquals(redactor.show("No tea today"), LEFT_OUT);
  assertEquals(redactor.show(" \x07 "), "");
  assertEquals(new Redactor("eight888/$").show("No tea today"), "No tea today");
});

Deno.test("isIn() finds the run of a key, or the key if it has none", () => {
  assertEquals(new Redactor("$eight888").isIn("id-EIGHT888"), true);
  assertEquals(new Redactor("$eight888").isIn("id-eight88"), false);
  assertEquals(new Redactor("$key").isIn("a$KEY"), true);
  assertEquals(new Redactor("$key").isIn("a-key"), false);
});

const hex = (character: string) =>
  character.charCodeAt(0).toString(16).padStart(2, "0");

/** Encoders of whole texts, as services use them. */
const ENCODERS: readonly ((text: string) => string)[] = [
  (text) => text.toUpperCase(),
  (text) => JSON.stringify(text),
  (text) => JSON.stringify(JSON.stringify(text)),
  encodeURIComponent,
  (text) => encodeURIComponent(encodeURIComponent(text)),
  (text) => new URLSearchParams({ key: text }).toString(),
  (text) => text.replace(/[<>&"']/g, (it) => `&#${it.charCodeAt(0)};`),
  (text) => text.replace(/[^\w-]/g, (it) => `&#x${hex(it)};`),
  (text) => text.replace(/[^\w-]/g, (it) => `\\x${hex(it)}`), // C, Python
  (text) => text.replace(/[^\w-]/g, (it) => `\\u00${hex(it)}`),
  (text) => text.replace(/[^\w-]/g, "\\$&"), // shells
  (text) => `'${text.replaceAll("'", "'\\''")}'`,
];

Deno.test("show() leaves out a key with a run, whatever encoder a service uses", () => {
  const run = fc.stringMatching(/^[\w-]{8,20}$/);
  const others = fc.stringMatching(/^[!-~]{0,20}$/);
  const encoder = fc.constantFrom(...ENCODERS);
  fc.assert(
    fc.property(others, run, others, encoder, (before, run, after, encode) => {
      const key = before + run + after;
      const echo = `X-API-Key: ${encode(key)}; Accept: */*`;
      assertEquals(new Redactor(key).show(echo), LEFT_OUT);
    }),
    { numRuns: 5_000 },
  );
});

Deno.test("show() takes linear time, whatever key and text hold", () => {
  for (const unit of ["a", "ab", "-", "$"]) {
    const text = unit.repeat(48 * 1024 / unit.length);
    for (const key of [`${unit.repeat(8_000)}b`, `b${unit.repeat(8_000)}`]) {
      const redactor = new Redactor(key);
      assertEquals(redactor.show(text + key, { isCut: true }), LEFT_OUT);
    }
  }
});
