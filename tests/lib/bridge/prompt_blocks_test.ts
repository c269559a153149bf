import { assertEquals, assertThrows } from "@std/assert";
import { RpcError } from "../../../lib/bridge/json_rpc.ts";
import {
  linksIn,
  parsePrompt,
  promptText,
} from "../../../lib/bridge/prompt_blocks.ts";
import { KEYLESS } from "../../../lib/text.ts";

const parse = (prompt: unknown) => parsePrompt(prompt, KEYLESS);

const text = (text: unknown) => ({ type: "text", text });
const resource = (resource: unknown) => ({ type: "resource", resource });
const embedded = (uri: string, text: string) => resource({ uri, text });
const link = (uri: unknown, name?: unknown) => (
  { type: "resource_link", name, uri }
);
const context = (uri: string, text: string) =>
  `\n\n<context uri="${uri}">\n${text}\n</context>`;

const PROMPTS: readonly (readonly [prompt: unknown, text: string])[] = [
  [" \n kept as it is \n", " \n kept as it is \n"],
  [[text("one"), text("two"), text("")], "one\ntwo"],
  [[text(""), text("one"), text(""), text("two")], "one\ntwo"],
  [[text("one"), text(""), link("a"), text(""), text("two")], "one [a](a) two"],
  [[text("😀\u0001")], "😀\u0001"],
  [[{ ...text("a"), annotations: { priority: 1 }, _meta: {} }], "a"],
  [
    [resource({ uri: "file:///a.ts", text: "let a;", mimeType: "text/plain" })],
    `[a.ts](file:///a.ts)${context("file:///a.ts", "let a;")}`,
  ],
  [[embedded("a", "<b>&\n\n")], `[a](a)${context("a", "<b>&\n")}`],
  [[embedded("a", "b\r\n")], `[a](a)${context("a", "b")}`],
  [[embedded("a", "b\r")], `[a](a)${context("a", "b\r")}`],
  [
    [{ ...embedded("x/a", "1"), name: "my file" }],
    `[my file](x/a)${context("x/a", "1")}`,
  ],
  [
    [text("see "), link("a"), embedded("b", "1"), text(", please"), text("Go")],
    `see [a](a) [b](b), please\nGo${context("b", "1")}`,
  ],
];
Deno.test("promptText() makes one text of a prompt (interface 4.2)", () => {
  for (const [prompt, expected] of PROMPTS) {
    const said = JSON.stringify(prompt);
    assertEquals(promptText(parse(prompt), new Map()), expected, said);
  }
});

Deno.test("parsePrompt() puts a space between a reference and its neighbours where they would touch", () => {
  const around = (before: string, after: string) =>
    parse([text(before), link("a"), text(after)]).text;
  for (const space of ["", " ", "\n", "\t", "\u00a0"]) {
    assertEquals(around(space, space), `${space}[a](a)${space}`);
  }
  for (const before of ["(", '"', "'"]) {
    assertEquals(around(before, ""), `${before}[a](a)`);
  }
  for (const after of [".", ",", ";", ":", "?", "!", ")", '"', "'"]) {
    assertEquals(around("", `${after}x`), `[a](a)${after}x`);
  }
  for (const other of ["x", "!", "[", ")", "。", "-"]) {
    assertEquals(around(other, ""), `${other} [a](a)`);
  }
  for (const other of ["x", "(", "[", "。", "-"]) {
    assertEquals(around("", other), `[a](a) ${other}`);
  }
  const empty = [link("a"), text(""), link("b"), text("")];
  assertEquals(parse(empty).text, "[a](a) [b](b)");
});

const NAMES: readonly (readonly [uri: string, name: string])[] = [
  ["file:///home/me/notes.md", "notes.md"],
  ["file:///home/me/my%20notes%C3%BC.md", "my notesü.md"],
  ...[["file:///home/me/", "me"], ["file:///home/me//", "me"]] as const,
  ...[["https://host.example", "host.example"], ["/%ff", "%ff"], [
    "a%00",
    "a%00",
  ]] as const,
  ...[["urn:isbn:1", "urn:isbn:1"], ["plain", "plain"]] as const,
  ...[["///", ""], ["", ""]] as const,
];
Deno.test("parsePrompt() names a reference without a name after the last part of its URI", () => {
  for (const [uri, name] of NAMES) {
    for (const blank of [undefined, null, "", " ", 1]) {
      const { text } = parse([link(uri, blank)]);
      assertEquals(text, `[${name}](${uri})`);
    }
  }
});

Deno.test("promptText() puts the texts of links after the prompt, in the order of the blocks, each once", () => {
  const content = parse([
    ...[link("a"), embedded("b", "2"), link("c"), link("a"), link("b")],
    link("d"),
  ]);

  assertEquals(linksIn(content), ["a", "c", "a", "b", "d"]);
  const files = [["c", "3\n"], ["a", "1"], ["b", "2\n"]] as const;
  assertEquals(
    promptText(content, new Map(files)),
    "[a](a) [b](b) [c](c) [a](a) [b](b) [d](d)" +
      context("a", "1") + context("b", "2") + context("c", "3"),
  );
});

Deno.test("promptText() has the text of a link beside a resource of the same URI that holds something else", () => {
  const content = parse([link("a"), embedded("a", "Cursor: 3\n")]);
  assertEquals(
    promptText(content, new Map([["a", "let a;"]])),
    "[a](a) [a](a)" + context("a", "let a;") + context("a", "Cursor: 3"),
  );
});

Deno.test("parsePrompt() takes a name of a million slashes and a text of a million line ends", () => {
  const uri = `a${"/".repeat(1_000_000)}`;
  assertEquals(parse([link(uri)]).text, `[a](${uri})`);

  const lines = "\r\n".repeat(1_000_000);
  assertEquals(
    promptText(parse([embedded("a", lines)]), new Map()),
    `[a](a)${context("a", lines.slice(2))}`,
  );
});

/** What is wrong with each of these prompts. */
const BAD_PROMPTS: Readonly<Record<string, readonly unknown[]>> = {
  "prompt is not a string or an array of content blocks": [
    ...[undefined, null, 1, text("x")],
  ],
  "prompt contains no text": [
    ...["", "\n\t\u00a0", [], [text(" "), text("\n")]],
  ],
  "prompt contains a NUL character": [
    ...["a\0", [text("a"), text("\0")], [link("a\0")]],
    ...[[link("a", "\0")], [embedded("a", "b\0")], [embedded("a\0", "b")]],
  ],
  "the type of a block is not a string": [
    ...[[null], ["x"], [[text("x")]], [{}], [{ type: 1 }]],
  ],
  "the text of a text block is not a string": [[text("fine"), text(1)]],
  "this agent takes no images": [
    [text("x"), { type: "image", data: "", mimeType: "image/png" }],
  ],
  "this agent takes no audio": [[{ type: "audio" }]],
  'content blocks of type "Text" are not supported': [
    [{ type: "Text", text: "x" }],
  ],
  "the text of a resource block is not a string": [
    [resource({ uri: "file:///a.png", blob: "AAAA" })],
  ],
  "the uri of a resource block is not a string": [
    ...[[resource(undefined)], [resource({ text: "x" })]],
  ],
  "the uri of a resource_link block is not a string": [
    ...[[link(undefined)], [link(1)]],
  ],
};
Deno.test("parsePrompt() says what is wrong with a prompt", () => {
  for (const [reason, prompts] of Object.entries(BAD_PROMPTS)) {
    for (const prompt of prompts) {
      const error = assertThrows(() => parse(prompt), RpcError);
      assertEquals(error.code, -32602);
      assertEquals(error.message, `Invalid params: ${reason}`);
    }
  }
});
