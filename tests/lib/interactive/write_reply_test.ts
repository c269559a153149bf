import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  type ReplyOptions,
  writeReply,
} from "../../../lib/interactive/write_reply.ts";
import { plainText } from "../../../lib/plain_text.ts";

const SGR = RegExp("\x1b\\[[\\d;]*m", "g");

/** The output for a reply, joined from one or more writes. */
async function written(
  text: string,
  options: Omit<ReplyOptions, "stdout">,
): Promise<string[]> {
  const pieces: string[] = [];
  const stdout = {
    write(bytes: Uint8Array) {
      pieces.push(new TextDecoder().decode(bytes));
      return Promise.resolve();
    },
  };
  await writeReply({ stdout, ...options }, text);
  return pieces;
}

const MARKDOWN = "# One\n*two* \x1b[31mred\x1b[m\x07\n";

Deno.test("writeReply() writes a reply and one newline, byte for byte, where no terminal is", async () => {
  for (const colour of [true, false]) {
    assertEquals(
      await written(MARKDOWN, { stdoutIsTerminal: false, colour }),
      [`${MARKDOWN}\n`],
    );
  }
});

Deno.test("writeReply() cleans a reply for a terminal", async () => {
  const shown = ["# One\n*two* red\n\n"];
  assertEquals(await written(MARKDOWN, { stdoutIsTerminal: true }), shown);
  assertEquals(
    await written(MARKDOWN, { stdoutIsTerminal: true, colour: false }),
    shown,
  );
});

Deno.test("writeReply() styles a reply for a terminal with colour", async () => {
  assertEquals(
    await written(MARKDOWN, { stdoutIsTerminal: true, colour: true }),
    [
      "\x1b[0;2m#\x1b[0m \x1b[0;1;4mOne\x1b[0m\n" +
      "\x1b[0;2m*\x1b[0;3mtwo\x1b[0;2m*\x1b[0m red\n\n",
    ],
  );
});

Deno.test("writeReply() writes a long reply in pieces, each of whole lines", async () => {
  const lines = Array.from({ length: 10_000 }, (_, i) => `*line* ${i}`);
  const pieces = await written(lines.join("\n"), {
    stdoutIsTerminal: true,
    colour: true,
  });
  assert(pieces.length > 10);
  for (const piece of pieces) assert(piece.endsWith("\n"));
  assertEquals(
    pieces.join("").replace(SGR, ""),
    `${lines.join("\n")}\n`,
  );
});

Deno.test("writeReply() shows on a terminal what plainText() leaves of a reply, whatever it holds", async () => {
  const part = fc.oneof(
    fc.constantFrom("\x1b", "[", "31m", "]0;", "\x07", "\x9b", "\u202e", "\r"),
    fc.constantFrom("*", "`", "\n", "```\n", "> ", "](", "_", "#", " "),
    fc.string({ unit: "grapheme" }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part), async (parts) => {
      const text = parts.join("");
      const pieces = await written(text, {
        stdoutIsTerminal: true,
        colour: true,
      });
      assertEquals(
        pieces.join("").replace(SGR, ""),
        `${plainText(text)}\n`,
      );
    }),
    { numRuns: 1000 },
  );
});
