/**
 * Makes `docs/session.svg`, a picture of the real program at work: in a terminal
 * (tmux), against the reference service.
 *
 *     deno task screenshot           makes it
 *     deno task screenshot --check   exits 1 if it is not up to date
 *
 * What differs from run to run is replaced by a fixed example: the id of the
 * thread, the port, and all times.
 *
 * @module
 */
import { settings } from "../tests/support/client_process.ts";
import { Screen } from "../tests/support/tmux_screen.ts";
import { GatedStream } from "../tests/support/service/gated_stream.ts";
import { ReferenceService } from "../tests/support/service/service.ts";
import { terminalSvg } from "./terminal_svg.ts";

const PICTURE = `${import.meta.dirname}/../docs/session.svg`;
const COLUMNS = 80;

const THREAD_ID = "0b9f724d-ae5e-4f75-aaea-af5a200febf5";
const ORIGIN = "http://127.0.0.1:8080";
const TIMES = ["1.2 s", "3.4 s", "4.6 s", "0.8 s", "1.9 s"];

/** The rows of the first prompt. */
const PROMPT = ["What is wrong here?", "if (user = admin) grantAccess();"];

const REPLY = [
  "## A typo with consequences",
  "",
  "`=` assigns, so the condition is **always true**:",
  "*everybody* gets access.",
  "",
  "1. Compare with `===`.",
  "2. Turn on [no-cond-assign](https://docs.deno.com/lint).",
].join("\n");

if (Deno.args.some((argument) => argument !== "--check")) {
  console.error("Usage: deno task screenshot [--check]");
  Deno.exit(2);
}
const picture = terminalSvg(exampleOf(await playSession()), {
  columns: COLUMNS,
  title: "agent-gateway",
  description: "A session with agent-gateway in a terminal",
});
if (!Deno.args.includes("--check")) {
  await Deno.mkdir(`${PICTURE}/..`, { recursive: true });
  await Deno.writeTextFile(PICTURE, picture);
  console.log(`docs/session.svg: ${picture.length} bytes`);
} else if (await readPicture() !== picture) {
  console.error(
    "docs/session.svg is not what the program shows: run deno task screenshot",
  );
  Deno.exit(1);
}

/** Completes one run, starts another, and returns the screen at that point. */
async function playSession(): Promise<string> {
  const first = new GatedStream();
  const second = new GatedStream();
  await using service = ReferenceService.start();
  await using screen = await Screen.open({
    columns: COLUMNS,
    env: settings(service),
  });
  await screen.enter("agent-gateway");
  await screen.waitFor(/^>$/m);
  service.misbehave("stream", first.behaviour);
  await screen.paste(PROMPT.join("\n"));
  await screen.waitFor(PROMPT.at(-1) ?? "");
  await screen.press("Enter");
  first.progress("plan", "started");
  await screen.waitFor("plan: started");
  first.progress("plan", "done");
  first.progress("write", "started");
  first.progress("write", "done");
  first.complete(REPLY);
  await screen.waitFor(/no-cond-assign.*\n\n>$/m);
  service.misbehave("stream", second.behaviour);
  await screen.enter("Show me the fixed line.");
  second.progress("plan", "done");
  second.progress("recall", "1 earlier prompt");
  await screen.waitFor("recall: 1 earlier prompt");
  return await screen.colours();
}

/** The screen's text below the shell's command line, with the fixed examples. */
function exampleOf(screen: string): string {
  const times = TIMES.values();
  return screen.slice(screen.indexOf("\n") + 1).trimEnd()
    .replace(/[0-9a-f-]{36}/, THREAD_ID)
    .replace(/http:\/\/127\.0\.0\.1:\d+/, ORIGIN)
    .replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/, "⠹")
    .replace(/\b\d+(?:\.\d)? s\b/g, (time) => times.next().value ?? time);
}

async function readPicture(): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(PICTURE);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
