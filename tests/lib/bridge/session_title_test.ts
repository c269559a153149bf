import { assertEquals } from "@std/assert";
import { parsePrompt } from "../../../lib/bridge/prompt_blocks.ts";
import { titleIn } from "../../../lib/bridge/session_title.ts";
import { KEYLESS } from "../../../lib/text.ts";

const ESCAPE = "\x1b[31m";
const MAN = "👨";

/** Prompts and the titles of their sessions. */
const TITLES: readonly (readonly [prompt: string, title?: string])[] = [
  ["hello", "hello"],
  ["  hello  world \nmore", "hello  world"],
  [" \n\t\n\u2028\r\nfirst\r\nsecond", "first"],
  [`${ESCAPE}red${ESCAPE}`, "red"],
  [`${ESCAPE}\nsecond`, "second"],
  ["a\tb\u202ec", "a bc"],
  ["x".repeat(81), "x".repeat(80)],
  [MAN.repeat(81), MAN.repeat(80)],
  [`x${MAN.repeat(80)}`, `x${MAN.repeat(79)}`],
  [ESCAPE],
  ["##\n# Fix it", "# Fix it"],
  ["```\n~~~~ts\n```ts x\n```f()``` fails", "```f()``` fails"],
  ["<a>\n</a>\n<a b='c'/>\n<br>x", "<br>x"],
  ["<https://host.example/>", "<https://host.example/>"],
  ["```\n###\n<x>"],
];
Deno.test("titleIn() takes the first line that says something, clean, at most 80 characters of it", () => {
  for (const [prompt, title] of TITLES) {
    assertEquals(titleIn(prompt), title, JSON.stringify(prompt));
  }
});

/**
 * First prompts of clients, and the titles of their chats. A string is a text block; a
 * URI is a link, with a text a resource.
 */
const CLIENTS = String.raw`
Zed: ["why is the login slow?"] => why is the login slow?
Zed: [{"uri":"file:///me/Checkout.tsx","name":"Checkout.tsx"}," why is it slow?"] => Checkout.tsx why is it slow?
Zed: ["Explain ",{"uri":"file:///me/a.ts?symbol=login#L10:20","name":"login"},", please"] => Explain login, please
Zed: [{"uri":"file:///me/users.ts#L5:9","text":"let a;"},"\nRename this"] => users.ts
Zed: [{"uri":"zed:///agent/thread/1?name=Login","name":"Login"}," go on"] => Login go on
avante.nvim: [{"uri":"file:///me/a.lua","name":"a.lua"},"Add a test"] => a.lua Add a test
avante.nvim: ["<selected_code>\n","${"```"}lua\n","How does this work?"] => How does this work?
CodeCompanion: [{"uri":"file:///me/init.lua","text":"local a"},"Explain this buffer"] => init.lua Explain this buffer
CodeCompanion: ["@",{"uri":"file:///a/users.ts?v=2","text":"let a;"},"why is the login slow?"] => @ users.ts why is the login slow?
Toad: ["# Task\n\nFix the build"] => # Task
Toad: ["#\n\nFix the build"] => Fix the build
agent-shell: ["${"```"}\nTypeError: x\n${"```"}\nWhat is this?"] => TypeError: x
agent-shell: ["<context>\nMy branch is red\n</context>"] => My branch is red
JetBrains: [{"uri":"file:///me/my%20notes.md"}] => my notes.md
JetBrains: [{"uri":"https://host.example/issues/7?tab=all#c1"}] => 7
acp-ui: ["What is 6 * 7?"] => What is 6 * 7?`;
Deno.test("the title of a chat has the words of its first prompt, and its references by their names", () => {
  for (const row of CLIENTS.trim().split("\n")) {
    const [, json = "", title] = /^.*?: (.*) => (.*)$/.exec(row) ?? [];
    const blocks = JSON.parse(json).map((
      block: string | { readonly uri: string; readonly text?: string },
    ) => {
      if (typeof block === "string") return { type: "text", text: block };
      return block.text === undefined
        ? { type: "resource_link", ...block }
        : { type: "resource", resource: block };
    });
    assertEquals(parsePrompt(blocks, KEYLESS).title, title);
  }
});
