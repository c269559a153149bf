import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { readConsole } from "../../../lib/io/windows_console.ts";
import { stub } from "../../support/stubs.ts";
import { testRows } from "../../support/tables.ts";

testRows(
  "readConsole() of {mode} {what}",
  "mode | what | reads | text",
  String.raw`
lines | ends at Ctrl-Z Enter                           | ["a\r\n","\u001a\r\n","b\r\n"]    | "a\r\n"
lines | ends at Ctrl-D Enter after lines read together | ["a\nb\n\u0004\n"]                | "a\nb\n"
lines | keeps both within a line                       | ["a\u0004\r\n","b","\u001a\r\n"]  | "a\u0004\r\nb\u001a\r\n"
raw   | passes both on                                  | ["\u0004","\u001a"]               | "\u0004\u001a"
lines | goes on after an end that Ctrl-C caused, which is a signal, too | ["a\n","Ctrl-C","b\n"] | "a\nb\n"
lines | spoils half a character at the end of a read   | ["a\ufffd","\ufffdb"]             | "a\u00ff\u00ff\u00ff\u00ff\u00ff\u00ffb"
`,
  async ({ reads, text, mode }) => {
    const listeners: (() => void)[] = [];
    using _ = stub(Deno, {
      addSignalListener: (_, listener) => void listeners.push(listener),
    });
    const waiting: string[] = JSON.parse(reads);
    async function* open() {
      for (let read; (read = waiting.shift()) !== undefined;) {
        await undefined;
        if (read !== "Ctrl-C") yield Buffer.from(read);
        else return listeners.forEach((listener) => listener());
      }
    }
    const chunks = await Array.fromAsync(
      readConsole(open, mode === "raw"),
      Buffer.from,
    );
    assertEquals(Buffer.concat(chunks).toString("latin1"), JSON.parse(text));
  },
);
