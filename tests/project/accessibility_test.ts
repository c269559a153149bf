import { assert, assertEquals, assertMatch } from "@std/assert";
import { complete, events } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { serveStreams } from "../support/service/service.ts";
import { openChat, test } from "../support/tmux_screen.ts";

/** What a text needs, and what a shape needs (WCAG 2.2, 1.4.3 and 1.4.11). */
const [FOR_TEXT, FOR_SHAPES] = [4.5, 3];

/** The background, text, red, green and cyan of terminals with their default settings. */
const PALETTES: Readonly<Record<string, readonly string[]>> = {
  "xterm": ["#ffffff", "#000000", "#cd0000", "#00cd00", "#00cdcd"],
  "GNOME Terminal": ["#171421", "#d0cfcc", "#c01c28", "#26a269", "#2aa1b3"],
  "Xfce Terminal (Tango)": [
    "#2e3436",
    "#d3d7cf",
    "#cc0000",
    "#4e9a06",
    "#06989a",
  ],
  "Konsole": ["#232627", "#fcfcfc", "#ed1515", "#11d116", "#1abc9c"],
  "Terminal.app": ["#ffffff", "#000000", "#990000", "#00a600", "#00a6b2"],
  "iTerm2": ["#15191f", "#dcdcdc", "#b43c2a", "#00c200", "#00c5c7"],
  "Windows Terminal": ["#0c0c0c", "#cccccc", "#c50f1f", "#13a10e", "#3a96dd"],
  "Windows console": ["#000000", "#c0c0c0", "#800000", "#008000", "#008080"],
  "PuTTY": ["#000000", "#bbbbbb", "#bb0000", "#00bb00", "#00bbbb"],
  "Linux console": ["#000000", "#aaaaaa", "#aa0000", "#00aa00", "#00aaaa"],
};

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const levels = [luminance(one) + 0.05, luminance(other) + 0.05];
  return Math.max(...levels) / Math.min(...levels);
}

/** The places of colours in a palette, by the SGR codes that set them. */
const COLOURS: Readonly<Record<string, number>> = {
  39: 1,
  31: 2,
  32: 3,
  36: 4,
};

const REPLY = "# A\n- **b** *c* `d`\n> e\n\n```diff\n@@ -1 +1 @@\n-f\n+g\n```";

/** What is coloured. Each says the same without its colour: see docs/accessibility.md. */
const COLOURED = [
  ...["✓", "✗", "error:"],
  ...["-", "`", ">", "```", "@@ -1 +1 @@", "-f", "+g"], // of a reply
];

test("what is not coloured has a contrast of 4.5:1 on the palettes of ten terminals, and what is coloured says the same without colour", async () => {
  const run = new GatedStream();
  const streams = [events([complete(REPLY)]), events([]), run.behaviour];
  await using service = serveStreams(...streams);
  await using screen = await openChat(service, { isQuiet: false });
  await screen.enter("one");
  await screen.waitFor(/\+g\n```\n\n>$/);
  await screen.enter("two");
  await screen.waitFor("error: ");
  await screen.enter("three");
  run.progress("plan", "started");
  await screen.enter("four");
  await screen.press("C-r", "o");
  await screen.waitFor(/plan: started.*\n> four\n> four\nsearch: o$/);
  await screen.press("C-g", "C-c");
  await screen.waitFor("Stopped following the run, and dropped 1");
  await screen.enter("exit");
  await screen.waitFor(/--thread thread-1\n\[0\]\$/);

  let colour = 1;
  const coloured = new Set<string>();
  for (const part of `39m${screen.written}`.split("\x1b[")) {
    const [, code, text = ""] =
      /^(?:(\d*)m|[?\d;]*[A-Za-z])([^]*)$/.exec(part) ??
        [];
    if (code !== undefined) assertMatch(code, /^(?:1|3|22|23|31|32|36|39)$/);
    colour = COLOURS[code ?? ""] ?? colour;
    if (colour !== 1 && text.trim() !== "") coloured.add(text.trim());
  }
  assertEquals(coloured, new Set(COLOURED));
  for (const [background = "", text = ""] of Object.values(PALETTES)) {
    assert(contrast(text, background) >= FOR_TEXT);
  }
  assert(screen.written.includes("\x1b[36m-\x1b[39m \x1b[1m**b**\x1b[22m"));
});

/** The palettes on which a colour has a contrast of less than 3:1. */
const WEAK: Readonly<Record<string, readonly string[]>> = {
  red: [
    ...["GNOME Terminal", "Xfce Terminal (Tango)", "Windows console"],
    "Linux console",
  ],
  green: ["xterm"],
  cyan: ["xterm", "Terminal.app"],
};

Deno.test("docs/accessibility.md names the palettes on which a colour has less than 3:1", async () => {
  const page = await Deno.readTextFile(
    `${import.meta.dirname}/../../docs/accessibility.md`,
  );
  const words = page.replaceAll(/\s+/g, " ");
  const places = Object.entries({ red: 2, green: 3, cyan: 4 });
  for (const [colour, place] of places) {
    const weak = Object.entries(PALETTES).flatMap(([name, palette]) => {
      const value = contrast(palette[place] ?? "", palette[0] ?? "");
      return value < FOR_SHAPES ? [name] : [];
    });
    assertEquals(weak, WEAK[colour]);
    const names = weak.join(", ").replace(/, ([^,]+)$/, " and $1");
    assert(words.includes(`${colour} in ${names}`), `${colour} in ${names}`);
  }
});

const PICTURES = {
  "session.svg": ["#161b22", '<rect class="window" x=".5" y=".5"'],
  "performance.svg": ["#ffffff", '<rect width="100%" height="100%"'],
} as const;
for (const [name, [background, rectangle]] of Object.entries(PICTURES)) {
  Deno.test(`docs/${name} has a title, and contrast on a background of its own`, async () => {
    const docs = `${import.meta.dirname}/../../docs`;
    const picture = await Deno.readTextFile(`${docs}/${name}`);
    assertMatch(picture, /^<svg [^>]*role="img"[^>]*>\n<title[^>]*>[^<]{40}/);
    assert(picture.includes(rectangle));
    const fills = picture.matchAll(
      /(<(?:rect|circle) [^>]*)?fill[:=]"?(#[0-9a-f]{6})/g,
    );
    const others = [...fills].filter(([, , colour]) => colour !== background);
    assert(others.length > 0);
    for (const [fill, shape, colour = ""] of others) {
      const least = shape === undefined ? FOR_TEXT : FOR_SHAPES;
      assert(contrast(colour, background) >= least, fill);
    }
  });
}
