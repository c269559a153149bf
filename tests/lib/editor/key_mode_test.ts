import { assertEquals } from "@std/assert";
import { enterKeyMode } from "../../../lib/editor/key_mode.ts";
import { changedModes } from "../../support/dec_modes.ts";
import { FakeClock } from "../../support/clocks.ts";

Deno.test("a key mode that is left while the process was to stop writes nothing any more", async () => {
  using clock = new FakeClock();
  const { kill, stdin: { setRaw } } = Deno;
  Object.assign(Deno, { kill() {} });
  Deno.stdin.setRaw = () => {};
  let written = "";
  let resumed = 0;
  try {
    for (const isLeftEarly of [true, false]) {
      const mode = enterKeyMode({
        write: (text) => written += text,
        written: () => Promise.resolve(),
        onResume: () => resumed++,
        onResize() {},
      });
      const stopped = mode.stop();
      if (!isLeftEarly) await stopped;
      mode[Symbol.dispose]();
      await stopped;
      for (const wereOn of [true, false]) {
        assertEquals(changedModes(written, wereOn), []);
      }
      written = "";
      clock.passTo(clock.time + 1_000);
      assertEquals([written, resumed], ["", 0]);
    }
  } finally {
    Object.assign(Deno, { kill });
    Deno.stdin.setRaw = setRaw;
  }
});
