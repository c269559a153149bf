import { assertEquals, assertThrows } from "@std/assert";
import { RpcError } from "../../../lib/bridge/json_rpc.ts";
import {
  linksIn,
  parsePrompt,
  promptText,
} from "../../../lib/bridge/prompt_text.ts";

/** A value, formatted for a test's name. */
function short(value: unknown): string {
  return (JSON.stringify(value) ?? "undefined").slice(0, 80);
}

const text = (text: unknown) => ({ type: "text", text });
const resource = (resource: unknown) => ({ type: "resource", resource });
const link = { type: "resource_link", name: "notes", uri: "file:///n.md" };
const linkTo = (uri: string) => ({ type: "resource_link", uri });

const PROMPTS: readonly (readonly [prompt: unknown, text: string])[] = [
  ["hello", "hello"],
  [" \n kept as it is \n", " \n kept as it is \n"],
  [[text("hello")], "hello"],
  [[text("one"), text("two"), text("")], "one\ntwo\n"],
  [[text(""), text("two")], "\ntwo"],
  [[text("😀\ud800\0")], "😀\ud800\0"],
  [[{ ...text("a"), annotations: { priority: 1 }, _meta: {} }], "a"],
  [
    [resource({ uri: "file:///a.ts", text: "let a;", mimeType: "text/plain" })],
    '[a.ts](file:///a.ts)\n\n<context uri="file:///a.ts">\nlet a;\n</context>',
  ],
  [
    [resource({ uri: "file:///empty", text: "" })],
    '[empty](file:///empty)\n\n<context uri="file:///empty">\n\n</context>',
  ],
  [
    [resource({ uri: "a", text: "<b>&\n\n" })],
    '[a](a)\n\n<context uri="a">\n<b>&\n\n</context>',
  ],
  [
    [resource({ uri: "a", text: "b\r\n" })],
    '[a](a)\n\n<context uri="a">\nb\n</context>',
  ],
  [
    [resource({ uri: "a", text: "b\r" })],
    '[a](a)\n\n<context uri="a">\nb\r\n</context>',
  ],
  [[link], "[notes](file:///n.md)"],
  [
    [text("explain "), link, text(" please")],
    "explain [notes](file:///n.md) please",
  ],
  [
    [
      text("look at "),
      { ...link, mimeType: "text/markdown", size: 3 },
      resource({ uri: "b", text: "c" }),
      text(", please"),
      text("Thanks"),
    ],
    'look at [notes](file:///n.md)[b](b), please\nThanks\n\n<context uri="b">\nc\n</context>',
  ],
  [
    [
      resource({ uri: "a", text: "1" }),
      text(" and "),
      resource({ uri: "b", text: "2" }),
    ],
    '[a](a) and [b](b)\n\n<context uri="a">\n1\n</context>\n\n<context uri="b">\n2\n</context>',
  ],
  [
    [{ ...resource({ uri: "file:///x/a", text: "1" }), name: "my file" }],
    '[my file](file:///x/a)\n\n<context uri="file:///x/a">\n1\n</context>',
  ],
];
for (const [prompt, expected] of PROMPTS) {
  Deno.test(`promptText() of ${short(prompt)} is one text (interface 4.2)`, () => {
    assertEquals(promptText(parsePrompt(prompt), new Map()), expected);
  });
}

const NAMES: readonly (readonly [uri: string, name: string])[] = [
  ["file:///home/me/notes.md", "notes.md"],
  ["file:///home/me/my%20notes%C3%BC.md", "my notesü.md"],
  ["file:///home/me/", "me"],
  ["file:///home/me//", "me"],
  ["file:///100%", "100%"],
  ["file:///%ff", "%ff"],
  ["https://host.example", "host.example"],
  ["urn:isbn:1", "urn:isbn:1"],
  ["plain", "plain"],
  ["///", ""],
  ["", ""],
];
for (const [uri, name] of NAMES) {
  Deno.test(`parsePrompt() calls ${JSON.stringify(uri)} "${name}" if it has no name`, () => {
    for (const blank of [undefined, null, "", " ", 1]) {
      const { text } = parsePrompt([{ ...linkTo(uri), name: blank }]);
      assertEquals(text, `[${name}](${uri})`);
    }
  });
}

Deno.test("promptText() puts the texts of links after the prompt, in the order of the blocks, each once", () => {
  const content = parsePrompt([
    linkTo("a"),
    resource({ uri: "b", text: "2" }),
    linkTo("c"),
    linkTo("a"),
    linkTo("d"),
  ]);

  assertEquals(linksIn(content), ["a", "c", "d"]);
  assertEquals(
    promptText(content, new Map([["c", "3\n"], ["a", "1"]])),
    "[a](a)[b](b)[c](c)[a](a)[d](d)" +
      '\n\n<context uri="a">\n1\n</context>' +
      '\n\n<context uri="b">\n2\n</context>' +
      '\n\n<context uri="c">\n3\n</context>',
  );
});

Deno.test("linksIn() leaves out a link whose text came with the prompt", () => {
  const embedded = resource({ uri: "a", text: "1" });
  const content = parsePrompt([linkTo("a"), embedded, linkTo("b")]);

  assertEquals(linksIn(content), ["b"]);
});

Deno.test("parsePrompt() takes a name of a million slashes and a text of a million line ends", () => {
  const uri = `a${"/".repeat(1_000_000)}`;
  const { text } = parsePrompt([linkTo(uri)]);
  assertEquals(text, `[a](${uri})`);

  const lines = "\r\n".repeat(1_000_000);
  const content = parsePrompt([resource({ uri: "a", text: lines })]);
  assertEquals(
    promptText(content, new Map()),
    `[a](a)\n\n<context uri="a">\n${lines.slice(2)}\n</context>`,
  );
});

const NOT_TEXT = "the text of a text block is not a string";
const NO_URI = "the resource of a resource block has no uri";
const NO_LINK = "a resource_link block has no uri";
const NO_BLOCK = "a content block is not an object";
const NO_TYPE = "the type of a content block is not a string";
const NO_TEXT = "prompt holds no text";
const NO_PROMPT = "prompt is not a string or an array of content blocks";
const unsupported = (type: string) =>
  `content blocks of type ${type} are not supported`;

const BAD_PROMPTS: readonly (readonly [prompt: unknown, reason: string])[] = [
  ...[undefined, null, 1, true, {}, text("x")]
    .map((prompt) => [prompt, NO_PROMPT] as const),
  ...["", " ", "\n\t\u00a0", [], [text("")], [text(" "), text("\n")]]
    .map((prompt) => [prompt, NO_TEXT] as const),
  ...[undefined, null, 1, "x", [], [text("x")]]
    .map((block) => [[block], NO_BLOCK] as const),
  ...[{}, { type: null }, { type: 1 }, { type: ["text"] }, { text: "x" }]
    .map((block) => [[block], NO_TYPE] as const),
  [[text(undefined)], NOT_TEXT],
  [[text("fine"), text(1)], NOT_TEXT],
  [
    [{ type: "image", data: "", mimeType: "image/png" }],
    unsupported('"image"'),
  ],
  [
    [{ type: "audio", data: "", mimeType: "audio/wav" }],
    unsupported('"audio"'),
  ],
  [[text("x"), { type: "video" }], unsupported('"video"')],
  [[{ type: "Text", text: "x" }], unsupported('"Text"')],
  [[{ type: "v".repeat(101) }], unsupported(`"${"v".repeat(100)}..."`)],
  [
    [resource({ uri: "file:///a.png", blob: "AAAA" })],
    'content blocks of type "resource" without text (blobs) are not supported',
  ],
  [[resource(undefined)], NO_URI],
  [[resource({ text: "x" })], NO_URI],
  [[{ type: "resource_link", name: "notes" }], NO_LINK],
  [[{ type: "resource_link", name: "notes", uri: 1 }], NO_LINK],
];
for (const [prompt, reason] of BAD_PROMPTS) {
  Deno.test(`parsePrompt() refuses ${short(prompt)}`, () => {
    const error = assertThrows(() => parsePrompt(prompt), RpcError);

    assertEquals(error.code, -32602);
    assertEquals(error.message, `Invalid params: ${reason}`);
  });
}
