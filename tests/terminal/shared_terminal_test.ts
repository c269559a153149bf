import { assert, assertEquals, assertFalse } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { complete, events } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { addStream, serveStreams } from "../support/service/service.ts";
import { Screen, test } from "../support/tmux_screen.ts";

// A terminal on which another program writes, too.

test("-q -p in the background writes nothing to the terminal, which stops whoever does", async () => {
  await using service = serveStreams(events([complete("Done.")]));
  await using screen = await Screen.open({ env: settings(service) });
  await screen.play("enter stty tostop; clear", /^\[0\]\$$/);
  const { length } = screen.written;
  await screen.play(
    "enter agent-gateway -q -p one > reply & wait; cat reply",
    /^Done\.$/m,
  );
  assertFalse(screen.written.slice(length).includes("\x1b["));
});

test("lines that are typed ahead on a dumb terminal appear after the sign, and progress below them", async () => {
  const run = new GatedStream();
  await using service = serveStreams(run.behaviour);
  addStream(service, events([complete("Two.")]));
  await using screen = await Screen.open({ env: settings(service) });
  await screen.play("enter TERM=dumb agent-gateway", /^>$/m, "enter one");
  await run.opened;
  await screen.play("enter two", "enter three", /^three$/m);
  run.progress("plan", "started");
  run.complete("One.");
  const text = await screen.waitFor(/^> three$/m);
  assert(
    /^two\nthree\nplan: started\nOne\.\n> two\nTwo\.\n> three$/m.test(text),
    text,
  );
  assertEquals(text.match(/^> /gm)?.length, 3);
});
