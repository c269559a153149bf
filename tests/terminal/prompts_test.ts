import { assertEquals } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { promptsOf, serveStreams } from "../support/scripted_service.ts";
import { events } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { complete } from "../support/service/stream_events.ts";
import { Screen, test } from "../support/tmux_screen.ts";

test("-p in a terminal shows the reply alone, without a control character", async () => {
  await using service = serveStreams(events([complete("# One\n\x1b[2Jtwo")]));
  await using screen = await Screen.open({ env: settings(service) });

  await screen.enter("agent-gateway -q -p one");

  await screen.shows("[0]$ agent-gateway -q -p one", "# One", "two", "[0]$");
  assertEquals(promptsOf(service), ["one"]);
});

test("Ctrl-C during a run of -p ends the program with 130", async () => {
  const stream = new GatedStream();
  await using service = serveStreams(stream.behaviour);
  await using screen = await Screen.open({ env: settings(service) });
  await screen.enter("agent-gateway -q -p one -p two");
  await stream.opened;

  await screen.press("C-c");

  await screen.waitFor("[130]$");
  await stream.dropped;
  assertEquals(promptsOf(service), ["one"]);
});

test("- in a terminal takes what is typed up to Ctrl-D as one prompt", async () => {
  await using service = serveStreams(events([complete("1")]));
  await using screen = await Screen.open({ env: settings(service) });
  await screen.enter("agent-gateway -q -p why -");
  await screen.enter("one");
  await screen.enter("two");
  await screen.press("C-d");

  await screen.waitFor(/^1$/m);
  assertEquals(promptsOf(service), ["why\n\none\ntwo"]);
});

test("Ctrl-D leaves with 0 though a run failed, for a person has seen it", async () => {
  await using service = serveStreams(events([]));
  await using screen = await Screen.open({ env: settings(service) });
  await screen.enter("agent-gateway -q");
  await screen.enter("one");
  await screen.waitFor("Error: ");

  await screen.press("C-d");

  await screen.waitFor(/^\[0\]\$$/m);
});
