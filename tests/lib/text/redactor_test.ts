import { assertEquals } from "@std/assert";
import { Redactor } from "../../../lib/text/redactor.ts";
import fc from "../../support/generated.ts";

const KEY = "test-key-0123456789abcdef";
const LEFT_OUT = "left out, because it may contain the API key";

const TEXTS: Readonly<Record<string, string>> = {
  "  No\ttea\r\n\n today ": "No tea today",
  "a\x1b[31mb\x07c\u202e": "abc",
  ["x".repeat(501)]: "x".repeat(500),
  [`${"x".repeat(499)}👩`]: "x".repeat(499),
  [`${"x".repeat(498)}👩👩`]: `${"x".repeat(498)}👩`,
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

Deno.test("of a key without a run of eight characters, the key itself is left out, as it is, if it has six", () => {
  for (const key of ["secret", "seven77", "$/$/$/$", "seven77/$/seven77"]) {
    const redactor = new Redactor(key);
    for (const text of [key, `a${key}b`, `a${key.replace(/^./, "$&\x07")}b`]) {
      assertEquals(redactor.show(text), LEFT_OUT);
    }
    for (const text of ["No tea today", "text/event-stream", "sec ret"]) {
      assertEquals(redactor.show(text), text);
    }
    const start = key.slice(0, 4);
    assertEquals(redactor.show(start, { isCut: true }), LEFT_OUT);
    assertEquals(redactor.show(start), start);
  }
  assertEquals(new Redactor("secret").show("a SECRET"), "a SECRET");
  assertEquals(new Redactor("short").show("a short one"), "a short one");
});

Deno.test("showName() leaves out a name with the whole key alone, as it is or as it is shown", () => {
  const redactor = new Redactor("key-plan-and-search");
  for (
    const name of [
      "bad key key-plan-and-search",
      "key-\x1b[1mplan\x07-and-search",
    ]
  ) assertEquals(redactor.showName(name), LEFT_OUT);
  for (
    const name of [
      "plan",
      "key-plan",
      "KEY-PLAN-AND-SEARCH",
      "\x07",
      "a\nb",
      "",
    ]
  ) assertEquals(redactor.showName(name), name);
  assertEquals(new Redactor("secret/1").showName("secret"), "secret");
  assertEquals(new Redactor("plan").showName("plan"), "plan");
});

Deno.test("isInId() finds the run of a key, or the key if it has none, also where an id is cleaned", () => {
  const holds = (key: string, id: string) => new Redactor(key).isInId(id);
  assertEquals(holds("$eight888", "id-EIGHT888"), true);
  assertEquals(holds("$eight888", "id-eight\x07888"), true);
  assertEquals(holds("$eight888", "\x1b]eight888"), true);
  assertEquals(holds("$eight888", "id-eight88"), false);
  assertEquals(holds("$a-key", "an $a-key"), true);
  assertEquals(holds("$a-key", "an $A-KEY"), false);
  assertEquals(holds("$key", "a$key"), false);
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
      redactor.showName(text + text);
    }
  }
});
