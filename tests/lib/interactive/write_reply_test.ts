import { assert, assertEquals } from "@std/assert";
import {
  type ReplyOptions,
  writeReply,
} from "../../../lib/interactive/write_reply.ts";
import { unchanged } from "../../../lib/text.ts";
import { plainText } from "../../../lib/text/plain_text.ts";
import fc from "../../support/generated.ts";

const SGR = RegExp("\x1b\\[[\\d;]*m", "g");

/** The writes of a reply, which is stopped by the first one if it is to be. */
async function written(
  text: string,
  form: ReplyOptions["form"],
  isStopped = false,
): Promise<string[]> {
  const stop = new AbortController();
  const pieces: string[] = [];
  const stdout = {
    write(bytes: Uint8Array) {
      pieces.push(new TextDecoder().decode(bytes));
      if (isStopped) stop.abort();
      return Promise.resolve();
    },
  };
  await writeReply({ stdout, form }, unchanged(text), stop.signal);
  return pieces;
}

const MARKDOWN = "# One\n*two* \x1b[31mred\x1b[m\x07\n";

Deno.test("writeReply() writes a reply and one newline, byte for byte, where no terminal is", async () => {
  for (const text of [MARKDOWN, "", "\x9b"]) {
    assertEquals(await written(text, "unchanged"), [`${text}\n`]);
  }
});

Deno.test("writeReply() cleans a reply for a terminal, and styles it for one with colour", async () => {
  assertEquals(await written(MARKDOWN, "clean"), ["# One\n*two* red\n\n"]);
  assertEquals(await written(MARKDOWN, "styled"), [
    "\x1b[1m# One\x1b[22m\n\x1b[3m*two*\x1b[23m red\n\n",
  ]);
});

const LINE = `${"x".repeat(4_095)}\n`;
const STOPPED = [
  ["x".repeat(5_000), "clean", ["x".repeat(4_096), "\n"]],
  ["x".repeat(5_000), "styled", ["x".repeat(4_096), "\x1b[m\n"]],
  [`${LINE}rest`, "clean", [LINE, ""]],
  ["x".repeat(200_000), "unchanged", ["x".repeat(128 * 1024), "\n"]],
] as const;
Deno.test("writeReply() that is stopped ends its line and its style", async () => {
  for (const [text, form, pieces] of STOPPED) {
    assertEquals<readonly string[]>(await written(text, form, true), pieces);
  }
});

Deno.test("writeReply() writes a long reply in pieces of whole lines, or of whole characters", async () => {
  const lines = Array.from({ length: 10_000 }, (_, i) => `*line* ${i}`);
  for (const text of [lines.join("\n"), `x${"👍".repeat(30_000)}`]) {
    for (const form of ["clean", "styled"] as const) {
      const pieces = await written(text, form);
      assert(pieces.length > 10);
      assertEquals(pieces.join("").replace(SGR, ""), `${text}\n`);
      for (const piece of pieces) {
        assert(piece.isWellFormed());
        assert(text.startsWith("x") || piece.endsWith("\n"));
      }
    }
  }
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
      const shown = (await written(text, "styled")).join("");
      assertEquals(shown.replace(SGR, ""), `${plainText(text)}\n`);
    }),
    { numRuns: 1000 },
  );
});
