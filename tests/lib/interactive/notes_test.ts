import { assertEquals } from "@std/assert";
import {
  againIn,
  banner,
  continuation,
  duration,
  noteOn,
} from "../../../lib/interactive/notes.ts";
import { COLOURED, PLAIN } from "../../../lib/text/style.ts";

const OPTIONS = { style: PLAIN, isQuiet: false };

const BANNERS = [
  ["one two three", undefined, "one two three\n"],
  ["one two three", 13, "one two three\n"],
  ["one two three", 12, "one two\nthree\n"],
  ["one two three", 6, "one\ntwo\nthree\n"],
  ["a longword b", 4, "a\nlongword\nb\n"],
  ["a\x1b[31m\nb\x07", 80, "a b\n"],
  ["", 80, "\n"],
] as const;
Deno.test("banner() breaks a line between words, and cleans it", () => {
  for (const [text, columns, lines] of BANNERS) {
    assertEquals(banner(text, { ...OPTIONS, columns }), lines);
  }
});

Deno.test("banner() dims each line, and is empty if quiet", () => {
  assertEquals(
    banner("one two", { style: COLOURED, isQuiet: false, columns: 3 }),
    "\x1b[2mone\x1b[22m\n\x1b[2mtwo\x1b[22m\n",
  );
  assertEquals(banner("one", { ...OPTIONS, isQuiet: true }), "");
});

const DROPPED = [
  ["thread", 2, ""],
  ["run", 0, "Run dropped; the run may still go on at the service\n"],
  ["reply", 0, "Rest of the reply dropped\n"],
  ["reply", 1, "Rest of the reply dropped, and 1 waiting prompt\n"],
  ["reply", 2, "Rest of the reply dropped, and 2 waiting prompts\n"],
] as const;
Deno.test("noteOn() says what was dropped, and how many waiting prompts", () => {
  for (const [what, prompts, lines] of DROPPED) {
    const event = { type: "dropped", what, prompts } as const;
    assertEquals(noteOn(event, { ...OPTIONS, isQuiet: true }), lines);
  }
});

Deno.test("noteOn() writes an error as one line, in red", () => {
  const message = "a\x1b[31m\nb";
  assertEquals(
    noteOn({ type: "error", message }, { style: COLOURED, isQuiet: true }),
    "\x1b[31mError: a b\x1b[39m\n",
  );
});

const CONTINUATIONS = {
  "thread-1": "--thread thread-1",
  "a:b@c/%.,+_": "--thread a:b@c/%.,+_",
  "-t": "--thread=-t",
  "two words": "--thread 'two words'",
  "it's $HOME": "--thread 'it'\\''s $HOME'",
  "-a b": "--thread='-a b'",
};
Deno.test("continuation() quotes the thread's id for the shell", () => {
  for (const [id, option] of Object.entries(CONTINUATIONS)) {
    assertEquals(continuation(id), `agent-gateway ${option}`);
  }
});

const DURATIONS = [
  ...[[0, "0.0 s"], [99, "0.0 s"], [9_999, "9.9 s"], [10_000, "10 s"]] as const,
  ...[[59_999, "59 s"], [60_000, "1 min 0 s"], [125_900, "2 min 5 s"]] as const,
] as const;
const WAITS = [[1, "1 s"], [6_000, "6 s"], [6_001, "7 s"], [
  60_001,
  "1 min 1 s",
]];

Deno.test("duration() rounds down, to tenths below 10 s, and againIn() up to seconds", () => {
  for (const [time, text] of DURATIONS) assertEquals(duration(time), text);
  for (const [time, text] of WAITS) {
    assertEquals(againIn(Number(time)), `again in ${text}`);
  }
});
