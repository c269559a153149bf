import { assertEquals } from "@std/assert";
import { ScreenView } from "../../../lib/interactive/screen_view.ts";
import { MARKS } from "../../../lib/interactive/status_line.ts";
import { StatusScreen } from "../../../lib/interactive/status_screen.ts";
import { Emulator } from "../../support/terminal_emulator.ts";

const FAREWELL = { type: "farewell", threadId: undefined } as const;

/** The view of a prompt of the command line on an emulator. */
function open({ stdoutIsTerminal = true } = {}) {
  const emulator = new Emulator(40, 20);
  const write = (text: string) => emulator.write(text);
  const size = () => ({ columns: 40, rows: 20 });
  const view = new ScreenView({
    screen: new StatusScreen({ write, size }),
    editor: undefined,
    stdout: {
      write: (bytes) => Promise.resolve(write(new TextDecoder().decode(bytes))),
    },
    stdoutIsTerminal,
    cleansReplies: true,
    hasColour: false,
    isQuiet: false,
    isPlain: false,
    marks: MARKS,
    size,
    now: () => 0,
  });
  view.show({ type: "begin" });
  view.show({ type: "run", runId: "r" });
  view.show({ type: "progress", node: "plan", status: "done" });
  view.show({ type: "progress", node: "write", status: "started" });
  return { emulator, view };
}

Deno.test("a prompt of the command line shows a status row, which goes with the reply; finished nodes stay", async () => {
  const { emulator, view } = open();
  await emulator.settled();
  assertEquals(emulator.allText.split("\n"), [
    "✓ plan: done  0.0 s",
    "⠋ write: started  0.0 s  Ctrl-C stops",
  ]);

  view.show({ type: "end", completed: true });
  await view.show({ type: "reply", text: "Done." });
  view.show(FAREWELL);

  await emulator.settled();
  assertEquals(emulator.allText.split("\n"), [
    "✓ plan: done  0.0 s",
    "✓ write: started  0.0 s",
    "✓ total  0.0 s",
    "",
    "Done.",
  ]);
});

Deno.test("a prompt of the command line that is interrupted erases its status row, and leaves no farewell", async () => {
  const { emulator, view } = open();

  assertEquals(await view.readPrompt(), { kind: "end" });
  view.show({ type: "end", completed: false });
  view.show(FAREWELL);

  await emulator.settled();
  assertEquals(emulator.allText.split("\n"), [
    "✓ plan: done  0.0 s",
    "✗ write: started  0.0 s",
    "✗ total  0.0 s",
  ]);
  assertEquals(emulator.cursor, { row: 3, column: 0 });
});

Deno.test("a prompt of the command line that is interrupted before its run leaves nothing", async () => {
  const { emulator, view } = open({ stdoutIsTerminal: false });
  view.show({ type: "end", completed: true });
  await view.show({ type: "reply", text: "Done." });
  await emulator.settled();
  const shown = emulator.allText;
  assertEquals(shown.split("\n").slice(-2), ["✓ total  0.0 s", "Done."]);

  view.show({ type: "begin" });
  await emulator.settled();
  assertEquals(
    emulator.allText,
    `${shown}\n⠋ waiting  0.0 s  Ctrl-C stops`,
  );
  view.show({ type: "end", completed: false });
  view.show(FAREWELL);

  await emulator.settled();
  assertEquals(emulator.allText, shown);
});
