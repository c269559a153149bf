import { assertEquals } from "@std/assert";
import { Display } from "../../../lib/editor/display.ts";
import { NO_FRAME } from "../../../lib/editor/painter.ts";
import { takenAtOnce } from "../../support/terminal_emulator.ts";

/** A display whose frames are counted. */
function countFrames(): { display: Display; frames: () => number } {
  let frames = 0;
  const display = new Display({
    output: takenAtOnce(() => {}),
    size: () => ({ columns: 80, rows: 24 }),
    frame: () => {
      frames++;
      return NO_FRAME;
    },
    now: () => 0,
  });
  return { display, frames: () => frames };
}

Deno.test("Display draws nothing while it is suspended, and again after resume()", () => {
  const { display, frames } = countFrames();
  display.suspend();
  display.print();
  assertEquals(frames(), 0);
  display.resume(true);
  assertEquals(frames(), 1);
});

Deno.test("Display draws nothing after close(), also when the process continues", () => {
  const { display, frames } = countFrames();
  display.close("");
  const last = frames();
  display.resume(true);
  display.print();
  assertEquals(frames(), last);
});
