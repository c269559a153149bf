import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { Display } from "../../../lib/editor/display.ts";
import { NO_FRAME } from "../../../lib/editor/painter.ts";
import { FakeClock } from "../../support/clocks.ts";
import { takenAtOnce } from "../../support/terminal_emulator.ts";

const size = () => ({ columns: 80, rows: 24 });

Deno.test("Display draws nothing while it is suspended, again after resume(), and never after close()", () => {
  let frames = 0;
  const display = new Display({
    output: takenAtOnce(() => {}),
    size,
    frame: () => (frames++, NO_FRAME),
  });
  display.suspend();
  display.print();
  assertEquals(frames, 0);
  display.resume(true);
  assertEquals(frames, 1);
  display.close("");
  display.resume(true);
  display.print();
  assertEquals(frames, 1);
});

Deno.test("Display draws no frame before the terminal has taken everything, but erases the last one and writes lines", async () => {
  const written: string[] = [];
  let taken = Promise.withResolvers<boolean>();
  const output = {
    isWritten: false,
    write: (text: string) => void written.push(text),
    settle: () => taken.promise,
  };
  using clock = new FakeClock();
  let frames = 0;
  const display = new Display({
    output,
    size,
    frame: () => ({ ...NO_FRAME, rows: [[cell(`${++frames}`)]] }),
  });
  const take = async (isTaken: boolean) => {
    taken.resolve(isTaken);
    taken = Promise.withResolvers();
    await setImmediate();
    clock.elapse(10);
  };
  for (let i = 0; i < 3; i++) display.refresh();
  display.print("line\n");
  assertEquals([written.splice(0), frames], [["line\n"], 0]);

  output.isWritten = true;
  await take(true);
  assertEquals([written.splice(0).join("").includes("1"), frames], [true, 1]);
  output.isWritten = false;
  display.print("line\n");
  assertEquals([written.splice(0), frames], [["\r\x1b[Jline\n"], 1]);
  await take(false); // It takes nothing any more.
  assertEquals([written, frames], [[], 1]);
});

const cell = (text: string) => ({ text, width: 1, isCertain: true });
