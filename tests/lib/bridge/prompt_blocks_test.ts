import { assertEquals, assertThrows } from "@std/assert";
import { RpcError } from "../../../lib/bridge/json_rpc.ts";
import {
  linksIn,
  parsePrompt,
  type PromptContent,
  promptText,
} from "../../../lib/bridge/prompt_blocks.ts";
import { KEYLESS } from "../../../lib/text.ts";

/** The rows of a table: JSON, and what it becomes. */
function rowsOf(table: string): (readonly [unknown, string])[] {
  return table.trim().split("\n").map((row) => {
    const [json = "", result = ""] = row.split(" => ");
    return [JSON.parse(json), result];
  });
}

type Block = string | { uri: unknown; text?: string; name?: unknown };

/** A prompt of texts, and of links and resources by their URIs. */
function parse(prompt: unknown): PromptContent {
  const blocks = (prompt as Block[]).map((block) => {
    if (typeof block === "string") return { type: "text", text: block };
    const { name, ...resource } = block;
    return block.text === undefined
      ? { type: "resource_link", ...block }
      : { type: "resource", name, resource };
  });
  return parsePrompt(blocks, KEYLESS);
}

/** The text of a prompt, in one line. */
function textOf(content: PromptContent, linked = {}): string {
  const text = promptText(content, new Map(Object.entries(linked)));
  return JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
}

const PROMPTS = String.raw`
[" \n kept as it is \n"] =>  \n kept as it is \n
["one","two",""] => one\ntwo
["","one","","two"] => one\ntwo
["one","",{"uri":"a"},"","two"] => one [a](a) two
["😀\u0001"] => 😀\u0001
["half \ud83d"] => half �
[{"uri":"file:///a.ts","text":"let a;"}] => [a.ts](file:///a.ts)\n\n<context uri="file:///a.ts">\nlet a;\n</context>
[{"uri":"a","text":"<b>&\n\n"}] => [a](a)\n\n<context uri="a">\n<b>&\n\n</context>
[{"uri":"a","text":"b\r\n"}] => [a](a)\n\n<context uri="a">\nb\n</context>
[{"uri":"a","text":"b\r"}] => [a](a)\n\n<context uri="a">\nb\r\n</context>
[{"uri":"x/a","text":"1","name":"my file"}] => [my file](x/a)\n\n<context uri="x/a">\n1\n</context>
["see ",{"uri":"a"},{"uri":"b","text":"1"},", please","Go"] => see [a](a) [b](b), please\nGo\n\n<context uri="b">\n1\n</context>
[{"uri":"file:///home/me/notes.md"}] => [notes.md](file:///home/me/notes.md)
[{"uri":"file:///me/my%20notes%C3%BC.md"}] => [my notesü.md](file:///me/my%20notes%C3%BC.md)
[{"uri":"file:///home/me//"}] => [me](file:///home/me//)
[{"uri":"https://host.example"}] => [host.example](https://host.example)
[{"uri":"/%ff"}] => [%ff](/%ff)
[{"uri":"a%00"}] => [a%00](a%00)
[{"uri":"urn:isbn:1"}] => [urn:isbn:1](urn:isbn:1)
[{"uri":"///"}] => [](///)
[{"uri":""}] => []()
[{"uri":"a","name":" "}] => [a](a)
[{"uri":"a","name":1}] => [a](a)`;
Deno.test("promptText() makes one text of a prompt, with references by their names (interface 4.2)", () => {
  for (const [prompt, text] of rowsOf(PROMPTS)) {
    assertEquals(textOf(parse(prompt)), text);
  }
  assertEquals(textOf(parsePrompt(" x", KEYLESS)), " x");
});

Deno.test("parsePrompt() puts a space between a reference and its neighbours where they would touch", () => {
  const around = (before: string, after: string) =>
    parse([before, { uri: "a" }, after]).text;
  for (const space of ["", " ", "\n", "\t", "\u00a0"]) {
    assertEquals<string>(around(space, space), `${space}[a](a)${space}`);
  }
  for (const before of ["(", '"', "'"]) {
    assertEquals<string>(around(before, ""), `${before}[a](a)`);
  }
  for (const after of [".", ",", ";", ":", "?", "!", ")", '"', "'"]) {
    assertEquals<string>(around("", `${after}x`), `[a](a)${after}x`);
  }
  for (const other of ["x", "!", "[", ")", "。", "-"]) {
    assertEquals<string>(around(other, ""), `${other} [a](a)`);
  }
  for (const other of ["x", "(", "[", "。", "-"]) {
    assertEquals<string>(around("", other), `[a](a) ${other}`);
  }
});

Deno.test("promptText() puts the texts of links after the prompt, in the order of the blocks, each once", () => {
  const content = parse([
    ...[{ uri: "a" }, { uri: "b", text: "2" }, { uri: "c" }, { uri: "a" }],
    ...[{ uri: "b" }, { uri: "c", text: "Cursor: 3\n" }, { uri: "d" }],
  ]);
  assertEquals(linksIn(content), ["a", "c", "a", "b", "d"]);
  assertEquals(
    textOf(content, { c: "3\n", a: "1", b: "2\n" }),
    String
      .raw`[a](a) [b](b) [c](c) [a](a) [b](b) [c](c) [d](d)\n\n<context uri="a">\n1\n</context>\n\n<context uri="b">\n2\n</context>\n\n<context uri="c">\n3\n</context>\n\n<context uri="c">\nCursor: 3\n</context>`,
  );
});

Deno.test("parsePrompt() takes a name of a million slashes and a text of a million line ends", () => {
  const uri = `a${"/".repeat(1_000_000)}`;
  assertEquals<string>(parse([{ uri }]).text, `[a](${uri})`);
  const text = "\r\n".repeat(1_000_000);
  const context = `\n\n<context uri="a">\n${text.slice(2)}\n</context>`;
  assertEquals<string>(
    promptText(parse([{ uri: "a", text }]), new Map()),
    `[a](a)${context}`,
  );
});

/** First prompts of clients, and the titles of their chats. */
const TITLES = String.raw`
["why is the login slow?"] => why is the login slow?
[{"uri":"file:///me/Checkout.tsx","name":"Checkout.tsx"}," why is it slow?"] => Checkout.tsx why is it slow?
["Explain ",{"uri":"file:///me/a.ts?symbol=login#L10:20","name":"login"},", please"] => Explain login, please
[{"uri":"file:///me/users.ts#L5:9","text":"let a;"},"\nRename this"] => users.ts
[{"uri":"zed:///agent/thread/1?name=Login","name":"Login"}," go on"] => Login go on
[{"uri":"file:///me/a.lua","name":"a.lua"},"Add a test"] => a.lua Add a test
["<selected_code>\n","${"```"}lua\n","How does this work?"] => How does this work?
[{"uri":"file:///me/init.lua","text":"local a"},"Explain this buffer"] => init.lua Explain this buffer
["@",{"uri":"file:///a/users.ts?v=2","text":"let a;"},"why is the login slow?"] => @ users.ts why is the login slow?
["# Task\n\nFix the build"] => # Task
["#\n\nFix the build"] => Fix the build
["${"```"}\nTypeError: x\n${"```"}\nWhat is this?"] => TypeError: x
["<context>\nMy branch is red\n</context>"] => My branch is red
[{"uri":"file:///me/my%20notes.md"}] => my notes.md
[{"uri":"https://host.example/issues/7?tab=all#c1"}] => 7
["What is 6 * 7?"] => What is 6 * 7?`;
Deno.test("the title of a chat has the words of its first prompt, and its references by their names", () => {
  for (const [prompt, title] of rowsOf(TITLES)) {
    assertEquals(parse(prompt).title, title);
  }
});

/** What is wrong with each of these prompts. */
const BAD_PROMPTS = String.raw`
null => prompt is not a string or an array of content blocks
{"type":"text","text":"x"} => prompt is not a string or an array of content blocks
"" => prompt contains no text
"\n\t\u00a0" => prompt contains no text
[] => prompt contains no text
[{"type":"text","text":" "},{"type":"text","text":"\n"}] => prompt contains no text
"a\u0000" => prompt contains a NUL character
[{"type":"resource_link","uri":"a","name":"\u0000"}] => prompt contains a NUL character
[{"type":"resource_link","uri":"a\u0000"}] => prompt contains a NUL character
[{"type":"resource","resource":{"uri":"a","text":"b\u0000"}}] => prompt contains a NUL character
[null] => the type of a block is not a string
["x"] => the type of a block is not a string
[{"type":1}] => the type of a block is not a string
[{"type":"text","text":"fine"},{"type":"text","text":1}] => the text of a text block is not a string
[{"type":"image","data":"","mimeType":"image/png"}] => this agent takes no images
[{"type":"audio"}] => this agent takes no audio
[{"type":"Text","text":"x"}] => content blocks of type "Text" are not supported
[{"type":"resource","resource":{"uri":"file:///a.png","blob":"AAAA"}}] => this agent takes no binary files: "a.png"
[{"type":"resource"}] => the uri of a resource block is not a string
[{"type":"resource","resource":{"text":"x"}}] => the uri of a resource block is not a string
[{"type":"resource_link","uri":1}] => the uri of a resource_link block is not a string`;
Deno.test("parsePrompt() says what is wrong with a prompt", () => {
  for (const [prompt, reason] of rowsOf(BAD_PROMPTS)) {
    const parse = () => parsePrompt(prompt, KEYLESS);
    const { code, message } = assertThrows(parse, RpcError);
    assertEquals([code, message], [-32602, `Invalid params: ${reason}`]);
  }
});
