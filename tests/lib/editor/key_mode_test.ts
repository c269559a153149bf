import { assertEquals } from "@std/assert";
import { enterKeyMode } from "../../../lib/editor/key_mode.ts";
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
      // Other modes may have been on before (metaSendsEscape in VTE and foot).
      assertEquals(written.split("\x1b[?2004").join("").match(/[^hl]/), null);
      written = "";
      clock.passTo(clock.time + 1_000);
      assertEquals([written, resumed], ["", 0]);
    }
  } finally {
    Object.assign(Deno, { kill });
    Deno.stdin.setRaw = setRaw;
  }
});
