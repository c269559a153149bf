import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { Redactor } from "../../../lib/text/redactor.ts";

// How services echo a key in their errors. SECURITY.md says what the guard against echoes
// promises, and what it does not: both are tested here.

const LEFT_OUT = "left out, because it may contain the API key";

/** Keys that look like real ones, each with a run of 8 letters, digits, `-` and `_`. */
const KEYS = [
  "test-key-0123456789abcdef",
  "sk-proj-Ab3_dEf6hIj9kLm2nOp5",
  "5f1c2d3e-4b5a-6978-8796-a5b4c3d2e1f0",
  "AKIA1234567890ABCDEF",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27u",
  "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY==",
  `p@ss"w<o&r>d'$12345678%`,
  "\\back\\slash_0123456\\",
];

const code = (character: string, base: number) =>
  character.charCodeAt(0).toString(base);
const hex = (character: string) => code(character, 16).padStart(2, "0");

type Encoder = (text: string) => string;

/** Encodes each character outside of runs. */
const symbols = (encode: Encoder): Encoder => (text) =>
  text.replace(/[^\w-]/g, encode);

/** Encodes each character. */
const each = (encode: Encoder): Encoder => (text) =>
  Array.from(text, encode).join("");

/** Encoders that leave letters, digits, `-` and `_` as they are, but for their case. */
const HARMLESS: Readonly<Record<string, Encoder>> = {
  "none": (text) => text,
  "upper case": (text) => text.toUpperCase(),
  "lower case": (text) => text.toLowerCase(),
  "JSON": JSON.stringify,
  "JSON in JSON": (text) => JSON.stringify(JSON.stringify(text)),
  "JSON of PHP": (text) => JSON.stringify(text).replaceAll("/", "\\/"),
  "JSON of .NET": symbols((it) => `\\u00${hex(it).toUpperCase()}`),
  "percent": encodeURIComponent,
  "percent twice": (text) => encodeURIComponent(encodeURIComponent(text)),
  "percent in lower case": symbols((it) => `%${hex(it)}`),
  "form": (text) => new URLSearchParams({ key: text }).toString(),
  "HTML, decimal": symbols((it) => `&#${code(it, 10)};`),
  "HTML, hexadecimal": symbols((it) => `&#x${hex(it)};`),
  "XML": (text) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  "CDATA": (text) => `<![CDATA[${text}]]>`,
  "C": symbols((it) => `\\x${hex(it)}`),
  "C, octal": symbols((it) => `\\${code(it, 8).padStart(3, "0")}`),
  "Python": (text) =>
    `b'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`,
  "SQL": (text) => `'${text.replaceAll("'", "''")}'`,
  "CSV": (text) => `"${text.replaceAll('"', '""')}"`,
  "LDAP": symbols((it) => `\\${hex(it)}`),
  "shell": (text) => `'${text.replaceAll("'", "'\\''")}'`,
  "shell, word by word": symbols((it) => `\\${it}`),
  "quoted-printable": symbols((it) => `=${hex(it).toUpperCase()}`),
  "bold on a terminal": (text) => `\x1b[1m${text}\x1b[0m`,
  "each character in a colour": each((it) => `\x1b[31m${it}`),
  "UTF-16 as bytes": each((it) => `${it}\0`),
  "right to left": each((it) => `\u202e${it}`),
};

/** Where services put a key. */
const PLACES: Readonly<Record<string, Encoder>> = {
  "a message": (key) => `Invalid API key ${key} for this project`,
  "a header": (key) => `X-API-Key: ${key}\r\nAccept: */*`,
  "a URL": (key) => `GET https://service.test/?api_key=${key}&a=b failed`,
  "the middle of a word": (key) => `key${key}key`,
  "the border of what is shown": (key) => "x".repeat(490) + key,
};

let count = 0;
for (const [encoding, encode] of Object.entries(HARMLESS)) {
  Deno.test(`show() leaves out each key in each place, encoded by: ${encoding}`, () => {
    for (const key of KEYS) {
      const redactor = new Redactor(key);
      for (const [place, put] of Object.entries(PLACES)) {
        assertEquals(redactor.show(put(encode(key))), LEFT_OUT, place + key);
        count++;
      }
    }
  });
}

Deno.test("these are 1,120 echoes", () => {
  assertEquals(count, 1_120);
});

/** Encoders that rewrite or break up a run: echoes of these are shown. */
const BEYOND: Readonly<Record<string, Encoder>> = {
  "base64": (text) => Buffer.from(text).toString("base64"),
  "hexadecimal": (text) => Buffer.from(text).toString("hex"),
  "percent, each character": each((it) => `%${hex(it)}`),
  "Unicode escapes, each character": each((it) => `\\u00${hex(it)}`),
  "HTML, each character": each((it) => `&#${code(it, 10)};`),
  "backwards": (text) => text.split("").reverse().join(""),
  "HTML within": each((it) => `<b>${it}</b>`),
  "soft line breaks of quoted-printable": (text) =>
    text.replace(/.{6}/g, "$&=\r\n"),
  "words of four characters": (text) => text.replace(/.{4}/g, "$& "),
  "characters without width": each((it) => `${it}\u200b`),
};

for (const [encoding, encode] of Object.entries(BEYOND)) {
  Deno.test(`show() guards against echoes, not against a service that wants to show the key by: ${encoding}`, () => {
    for (const key of KEYS) {
      const text = encode(key);
      assertEquals(new Redactor(key).show(text) === LEFT_OUT, false, key);
    }
  });
}

Deno.test("show() leaves out a text that was cut within a key, at each of its characters from the fourth on", () => {
  for (const key of KEYS) {
    const [run = ""] = (key.match(/[\w-]+/g) ?? [])
      .sort((a, b) => b.length - a.length);
    const redactor = new Redactor(key);
    for (let length = 4; length <= run.length; length++) {
      for (const start of [run, run.toUpperCase(), run.toLowerCase()]) {
        const text = `Invalid key ${start.slice(0, length)}`;
        assertEquals(redactor.show(text, { isCut: true }), LEFT_OUT, text);
      }
    }
  }
});
