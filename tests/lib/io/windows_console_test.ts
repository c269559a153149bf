import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { readConsole } from "../../../lib/io/windows_console.ts";
import { stub } from "../../support/stubs.ts";

/** Stands for a Ctrl-C, which ends a read and comes as a signal, too. */
const CTRL_C = "Ctrl-C";

const INPUTS: readonly (readonly [
  what: string,
  reads: readonly string[],
  text: string,
  isRaw?: boolean,
])[] = [
  ["ends at Ctrl-Z Enter", ["a\r\n", "\x1a\r\n", "b\r\n"], "a\r\n"],
  [
    "ends at Ctrl-D Enter after lines read together",
    ["a\nb\n\x04\n"],
    "a\nb\n",
  ],
  [
    "keeps both within a line",
    ["a\x04\r\n", "b", "\x1a\r\n"],
    "a\x04\r\nb\x1a\r\n",
  ],
  ["passes both on as keys", ["\x04", "\x1a"], "\x04\x1a", true],
  ["goes on after an end that Ctrl-C caused", ["a\n", CTRL_C, "b\n"], "a\nb\n"],
  [
    "spoils half a character at the end of a read",
    ["a\ufffd", "\ufffdb"],
    "a\xff\xff\xff\xff\xff\xffb",
  ],
];

for (const [what, reads, text, isRaw = false] of INPUTS) {
  Deno.test(`readConsole() ${what}`, async () => {
    const listeners: (() => void)[] = [];
    using _ = stub(Deno, {
      addSignalListener: (_, listener) => void listeners.push(listener),
    });
    const waiting = [...reads];
    async function* open() {
      for (let read; (read = waiting.shift()) !== undefined;) {
        await undefined;
        if (read !== CTRL_C) yield Buffer.from(read);
        else return listeners.forEach((listener) => listener());
      }
    }
    const chunks = await Array.fromAsync(
      readConsole(open, isRaw),
      Buffer.from,
    );
    assertEquals(Buffer.concat(chunks).toString("latin1"), text);
  });
}
