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

const PICTURE = `${import.meta.dirname}/../docs/session.svg`;
const TITLE = "agent-gateway";
const DESCRIPTION = "A session with agent-gateway in a terminal: " +
  "a prompt of two lines, the steps of its run with their times, a reply in " +
  "Markdown, and a second run, with the step that it has reached";
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

/** Sizes in pixels. */
const [FONT_SIZE, COLUMN, ROW, MARGIN, TITLE_BAR] = [14, 8.4, 20, 18, 36];

const CSS = [
  ".window{fill:#161b22;stroke:#30363d}",
  `text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,` +
  '"DejaVu Sans Mono",monospace;fill:#d1d7e0}',
  ".title{fill:#8b949e;text-anchor:middle}",
  ".bold{font-weight:700;fill:#f0f6fc}",
  ".italic{font-style:italic}",
  ".underlined{text-decoration:underline}",
  ".green{fill:#56d364}",
  ".cyan{fill:#56d4dd}",
].join("");

/** The class that an SGR code of tmux turns on. */
// deno-fmt-ignore
const CLASSES: Readonly<Record<string, string>> =
  { 1: "bold", 3: "italic", 4: "underlined", 32: "green", 36: "cyan" };

/** The classes that an SGR code of tmux turns off. */
const OFF: Readonly<Record<string, readonly string[]>> = {
  0: Object.values(CLASSES),
  39: ["green", "cyan"],
  49: [], // the background, which is never coloured
};

/** Draws what `tmux capture-pane -e` prints, as text that can be selected. */
function terminalSvg(screen: string): string {
  const rows = screen.split("\n");
  const width = Math.ceil(COLUMNS * COLUMN + 2 * MARGIN);
  const height = TITLE_BAR + rows.length * ROW + MARGIN;
  const texts: string[] = [];
  let style: readonly string[] = [];
  for (const [index, row] of rows.entries()) {
    const y = TITLE_BAR + index * ROW + FONT_SIZE;
    let column = 0;
    for (const part of `49m${row}`.split("\x1b[")) {
      const end = part.indexOf("m");
      for (const code of part.slice(0, end).split(";")) {
        const [on, off] = [CLASSES[code], OFF[code]];
        if (on !== undefined) style = [...style, on];
        else if (off === undefined) throw new Error(`Cannot draw SGR ${code}`);
        else style = style.filter((name) => !off.includes(name));
      }
      const text = part.slice(end + 1);
      const x = (MARGIN + column * COLUMN).toFixed(1);
      // The columns do not depend on the width of the font's characters.
      const length = (text.length * COLUMN).toFixed(1);
      column += text.length;
      if (text.trim() === "") continue;
      const classes = style.length > 0 ? ` class="${style.join(" ")}"` : "";
      const shown = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
      const place = `x="${x}" y="${y}" textLength="${length}"`;
      texts.push(`<text${classes} ${place}>${shown}</text>`);
    }
  }
  return `\
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" xml:space="preserve">
<title>${DESCRIPTION}</title>
<style>${CSS}</style>
<rect class="window" x=".5" y=".5" width="${width - 1}" height="${
    height - 1
  }" rx="9.5"/>
<circle cx="20" cy="18" r="6" fill="#f85149"/>
<circle cx="40" cy="18" r="6" fill="#d29922"/>
<circle cx="60" cy="18" r="6" fill="#3fb950"/>
<text class="title" x="${width / 2}" y="23">${TITLE}</text>
${texts.join("\n")}
</svg>
`;
}

if (Deno.args.some((argument) => argument !== "--check")) {
  console.error("Usage: deno task screenshot [--check]");
  Deno.exit(2);
}
const picture = terminalSvg(exampleOf(await playSession()));
if (!Deno.args.includes("--check")) {
  await Deno.writeTextFile(PICTURE, picture);
} else if (await Deno.readTextFile(PICTURE) !== picture) {
  console.error(
    "docs/session.svg is not what the program shows: run deno task screenshot",
  );
  Deno.exit(1);
}
