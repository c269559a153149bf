import { assertEquals } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { complete, events, progress } from "../support/service/behaviours.ts";
import { serveStreams } from "../support/service/service.ts";
import { Screen, test } from "../support/tmux_screen.ts";

test(
  "in a terminal of Emacs, which knows few escape codes, output overwrites nothing",
  async () => {
    await using service = serveStreams(
      events([progress("plan", "done"), complete("First.")]),
      events([progress("plan", "done"), complete("Second.")]),
    );
    await using screen = await Screen.open({ env: settings(service) });
    await screen.enter(`emacs -nw -Q --eval '(ansi-term "/bin/sh")'`);
    await screen.waitFor(/^\[0\]\$\n[^]*ansi-term/m);

    await screen.enter("agent-gateway -p one");
    await screen.waitFor(/^First\.\n\[0\]\$$/m);
    await screen.enter("agent-gateway -p two");
    await screen.waitFor(/^Second\.\n\[0\]\$$/m);
    await screen.enter("echo Third.");

    const text = await screen.waitFor(/^Third\.\n\[0\]\$$/m);
    const lines = text.split("\n")
      .filter((line) =>
        /^(?:\[0\]\$ \w|service|First|Second|Third)/.test(line)
      );
    assertEquals(lines, [
      "[0]$ agent-gateway -p one",
      `service ${service.url}`,
      "First.",
      "[0]$ agent-gateway -p two",
      `service ${service.url}`,
      "Second.",
      "[0]$ echo Third.",
      "Third.",
    ]);
  },
  "emacs",
);
