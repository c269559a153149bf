import { assertEquals } from "@std/assert";
import { sameFlags } from "../../tools/deno.ts";
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
