import { assertEquals } from "@std/assert";
import { sameFlags } from "../../tools/stand_ins.ts";
import { test } from "../support/tmux_screen.ts";

const TOOL = `${import.meta.dirname}/../../tools/screenshot.ts`;

test("docs/session.svg is what the program shows (else: deno task screenshot)", async () => {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-q",
      ...sameFlags,
      "-P=test",
      "--no-prompt",
      TOOL,
      "--check",
    ],
  }).output();
  assertEquals(new TextDecoder().decode(stderr), "");
  assertEquals(code, 0);
});
