import { assertEquals } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { RealTerminal, terminalTest } from "../support/real_terminal.ts";
import { complete, events } from "../support/service/behaviours.ts";
import { promptsOf, serveStreams } from "../support/service/service.ts";

const REPLY = Array.from({ length: 10 }, (_, i) => `line ${i} of the reply`);

terminalTest(
  "Ctrl-J and Alt-B edit a prompt, and dragging the window erases nothing that was printed",
  async (name) => {
    await using service = serveStreams(events([complete(REPLY.join("\n"))]));
    await using terminal = await RealTerminal.open(name, settings(service), [
      "-q",
    ]);
    await terminal.shows(">");
    await terminal.type("one");
    await terminal.press("ctrl+j");
    await terminal.type("two three");
    await terminal.shows("> one two three");
    await terminal.press("alt+b");
    await terminal.type("or ");
    await terminal.press("Return");
    await terminal.shows("> one two or three line 0 of the reply");
    assertEquals(promptsOf(service), ["one\ntwo or three"]);
    let prompt = Array.from({ length: 16 }, (_, i) => `word${i}`).join(" ");
    await terminal.type(prompt);
    await terminal.shows(prompt);

    // Away and back, with and without rests, and to another width.
    for (const rest of [0.9, 0.5, 1]) {
      for (let share = 1; share > 0.5; share -= 0.1) {
        await terminal.resize(share);
      }
      await terminal.resize(rest);
      prompt += "!";
      await terminal.type("!");
      await terminal.shows(`> ${prompt}`);
      await terminal.keeps(REPLY);
    }
  },
);
