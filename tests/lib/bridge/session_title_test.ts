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

const text = (text: string) => ({ type: "text", text });
const link = (uri: string, name?: string) => (
  { type: "resource_link", uri, name }
);
const file = (uri: string) => (
  { type: "resource", resource: { uri, text: "let a;" } }
);

/** First prompts of clients, and the titles of their chats. */
const CLIENTS: readonly (readonly [prompt: unknown, title: string])[] = [
  // The methods of the interface
  ["What is 6 * 7?", "What is 6 * 7?"],
  // Zed: text, mentions of a file, of a symbol, of a selection, of a thread
  [[text("why is the login slow?")], "why is the login slow?"],
  [
    [
      link("file:///home/me/shop/src/Checkout.tsx", "Checkout.tsx"),
      text(" why is it slow?"),
    ],
    "Checkout.tsx why is it slow?",
  ],
  [
    [
      text("Explain "),
      link("file:///home/me/a.ts?symbol=login#L10:20", "login"),
      text(", please"),
    ],
    "Explain login, please",
  ],
  [
    [file("file:///home/me/src/users.ts#L5:9"), text("\nRename this")],
    "users.ts",
  ],
  [
    [link("zed:///agent/thread/1?name=Login", "Login"), text(" go on")],
    "Login go on",
  ],
  // avante.nvim: its files first, then the selection, then the words
  [
    [link("file:///home/me/a.lua", "a.lua"), text("Add a test")],
    "a.lua Add a test",
  ],
  [
    [
      text("<selected_code>\n"),
      text("```lua\n"),
      text("How does this work?"),
    ],
    "How does this work?",
  ],
  // CodeCompanion: an embedded buffer, then the words
  [
    [file("file:///home/me/init.lua"), text("Explain this buffer")],
    "init.lua Explain this buffer",
  ],
  [
    [text("@"), file("file:///a/users.ts?v=2"), text("why is the login slow?")],
    "@ users.ts why is the login slow?",
  ],
  // Toad, Emacs (agent-shell), JetBrains
  [[text("# Task\n\nFix the build")], "# Task"],
  [[text("#\n\nFix the build")], "Fix the build"],
  [[text("```\nTypeError: x\n```\nWhat is this?")], "TypeError: x"],
  [[text("<context>\nMy branch is red\n</context>")], "My branch is red"],
  [[link("file:///home/me/my%20notes.md")], "my notes.md"],
  [[link("https://host.example/issues/7?tab=all#c1")], "7"],
];
Deno.test("the title of a chat has the words of its first prompt, and its references by their names", () => {
  for (const [prompt, title] of CLIENTS) {
    assertEquals(parsePrompt(prompt, KEYLESS).title, title);
  }
});
