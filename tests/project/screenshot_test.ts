import { assertEquals, assertThrows } from "@std/assert";
import { sameFlags } from "../../tools/deno.ts";
import { terminalSvg } from "../../tools/screenshot.ts";
import { programOutput } from "../support/program_output.ts";
import { test } from "../support/tmux_screen.ts";

const TOOL = `${import.meta.dirname}/../../tools/screenshot.ts`;

test("docs/session.svg is what the program shows (else: deno task screenshot)", async () => {
  const { code, stderr } = await programOutput([
    ...[Deno.execPath(), "run", "-q", ...sameFlags],
    ...["-P=test", "--no-prompt", TOOL, "--check"],
  ]);
  assertEquals([code, stderr], [0, ""]);
});

/** The texts that are drawn for the terminal's rows. */
function textsOf(screen: string): string[] {
  const [, ...texts] = terminalSvg(screen).split("\n")
    .filter((line) => line.startsWith("<text"));
  return texts;
}

Deno.test("terminalSvg() draws each piece of text at its column and row, as text", () => {
  assertEquals(textsOf("one <&> two\n\n\x1b[1m> \x1b[0mthree  "), [
    '<text x="18" y="50" textLength="92.4">one &lt;&amp;> two</text>',
    '<text class="bold" x="18" y="90" textLength="8.4">></text>',
    '<text x="34.8" y="90" textLength="42">three</text>',
  ]);
});

Deno.test("terminalSvg() gives wide characters two columns", () => {
  assertEquals(textsOf("日本\x1b[31mx"), [
    '<text x="18" y="50" textLength="33.6">日本</text>',
    '<text class="red" x="51.6" y="50" textLength="8.4">x</text>',
  ]);
});

Deno.test("terminalSvg() draws a style until it ends, also on the next row", () => {
  const screen = "\x1b[2ma\nb\x1b[22mc\x1b[32md\x1b[39me\x1b[1;36mf" +
    "\x1b[mg\x1b[49;3;4mh\x1b[23mi\x1b[24mj";
  assertEquals(
    textsOf(screen).map((text) => /class="(.*?)"/.exec(text)?.[1] ?? ""),
    [
      ...["dim", "dim", "", "green", "", "bold cyan"],
      ...["", "italic underlined", "underlined", ""],
    ],
  );
});

for (const code of ["\x1b[35mx", "\x1b[Hx", "\x1b]0;x"]) {
  Deno.test(`terminalSvg() does not draw ${JSON.stringify(code)}`, () => {
    assertThrows(() => textsOf(code), Error, "Cannot draw");
  });
}
