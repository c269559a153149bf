import { assertEquals } from "@std/assert";
import { enterKeyMode } from "../../../lib/editor/key_mode.ts";
import { FakeClock } from "../../support/clocks.ts";
import { stub } from "../../support/stubs.ts";
import { takenAtOnce } from "../../support/terminal_emulator.ts";

const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";

Deno.test("a key mode that is left while the process was to stop writes nothing any more", async () => {
  using clock = new FakeClock();
  using _kill = stub(Deno, { kill() {} });
  using _setRaw = stub(Deno.stdin, { setRaw() {} });
  let written = "";
  let resumed = 0;
  for (const isLeftEarly of [true, false]) {
    const mode = enterKeyMode({
      output: takenAtOnce((text) => written += text),
      onResume: () => resumed++,
      onResize() {},
    });
    const stopped = mode.stop();
    if (!isLeftEarly) await stopped;
    await mode.leave();
    await stopped;
    assertEquals(written, PASTE_ON + PASTE_OFF);
    written = "";
    clock.passTo(clock.time + 1_000);
    assertEquals([written, resumed], ["", 0]);
  }
});
