import { assert, assertEquals, assertFalse } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { complete, events, json } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { addStream, serveStreams } from "../support/service/service.ts";
import { Screen, test } from "../support/tmux_screen.ts";

// A terminal on which another program writes, too.

const ESCAPE = "\x1b[";

/** More than the half second after which a status line shows. */
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 1_500));

test("after the first reply, progress is not drawn over the program that reads the replies, and errors are", async () => {
  const [one, two] = [new GatedStream(), new GatedStream()];
  await using service = serveStreams(one.behaviour, two.behaviour);
  service.misbehave("create run", json({ message: "no" }, 400));
  await using screen = await Screen.open({ env: settings(service) });
  await screen.enter(
    "agent-gateway -p one -p two -p three |" +
      " while read reply; do echo pager: $reply; done",
  );
  one.progress("plan", "started");
  await screen.waitFor("plan: started");
  await screen.waitFor("Ctrl-C stops");
  one.complete("One.");
  await screen.waitFor("pager: One.");

  const { length } = screen.written;
  two.progress("search", "started");
  two.progress("write", "started");
  await service.waitFor("stream", 2);
  await aWhile();
  two.complete("Two.");
  await screen.waitFor(/pager: Two\.\n[^]*error: Prompt 3/);
  const written = screen.written.slice(length);
  assertFalse(/search|write|total|stops/.test(written), written);
  assertFalse(written.includes(ESCAPE + "J"), written);
});

test("after bg, progress appears as lines, and nothing is drawn over what is typed in the shell", async () => {
  const run = new GatedStream();
  await using service = serveStreams(run.behaviour);
  await using screen = await Screen.open({ env: settings(service) });
  await screen.enter("agent-gateway -p one > reply");
  run.progress("plan", "started");
  await screen.waitFor("plan: started");
  await screen.press("C-z");
  await screen.waitFor("Stopped");
  run.progress("search", "started");
  // A shorter stop looks like a frame that is late on a busy machine: then the event may
  // be drawn before the program hears that it continues.
  await aWhile();

  const { length } = screen.written;
  await screen.enter("bg");
  await screen.waitFor(/search: started$/m);
  await screen.type("echo typed");
  await aWhile();
  run.progress("write", "started");
  await screen.waitFor(/write: started$/m);
  await screen.press("Enter");
  await screen.waitFor(/^typed$/m);
  run.complete("Done.");
  await screen.enter("wait; cat reply");
  await screen.waitFor(/^Done\.$/m);
  const written = screen.written.slice(length);
  assertFalse(written.includes(ESCAPE), JSON.stringify(written));
  assertFalse(written.includes("stops"), written);
});

test("-q -p in the background writes nothing to the terminal, which stops whoever does", async () => {
  await using service = serveStreams(events([complete("Done.")]));
  await using screen = await Screen.open({ env: settings(service) });
  await screen.enter("stty tostop; clear");
  await screen.waitFor(/^\[0\]\$$/);
  const { length } = screen.written;
  await screen.enter("agent-gateway -q -p one > reply & wait; cat reply");
  await screen.waitFor(/^Done\.$/m);
  assertFalse(screen.written.slice(length).includes(ESCAPE));
});

test("lines that are typed ahead on a dumb terminal appear after the sign, and progress below them", async () => {
  const run = new GatedStream();
  await using service = serveStreams(run.behaviour);
  addStream(service, events([complete("Two.")]));
  await using screen = await Screen.open({ env: settings(service) });
  await screen.enter("TERM=dumb agent-gateway");
  await screen.waitFor(/^>$/m);
  await screen.enter("one");
  await run.opened;
  await screen.enter("two");
  await screen.enter("three");
  await screen.waitFor(/^three$/m);
  run.progress("plan", "started");
  run.complete("One.");
  const text = await screen.waitFor(/^> three$/m);
  assert(
    /^two\nthree\nplan: started\nOne\.\n> two\nTwo\.\n> three$/m.test(text),
    text,
  );
  assertEquals(text.match(/^> /gm)?.length, 3);
});
