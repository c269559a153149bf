import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { runClient, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import {
  answer,
  complete,
  events,
  json,
  progress,
} from "../support/service/behaviours.ts";
import {
  addStream,
  ReferenceService,
  serveStreams,
} from "../support/service/service.ts";

/** Texts that control a terminal, or that are shown in another order. */
const HOSTILE: Readonly<Record<string, string>> = {
  "colour": "\x1b[31;1mred\x1b[0m",
  "a cleared screen": "\x1b[2J\x1b[3J\x1b[H",
  "a moved cursor": "\x1b[1A\x1b[2K\x1b[10;20Hmoved",
  "another screen": "\x1b[?1049h\x1b[?25l",
  "bracketed paste": "\x1b[200~rm -rf /\x1b[201~",
  "a title": "\x1b]0;title\x07\x1b]2;title\x1b\\",
  "a link (OSC 8)": "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\",
  "the clipboard (OSC 52)": "\x1b]52;c;cm0gLXJmIC8=\x07",
  "a device string (DCS)": '\x1bP$q"p\x1b\\\x1bP+q544e\x1b\\',
  "other strings (SOS, PM, APC)": "\x1bXa\x1b\\\x1b^b\x1b\\\x1b_Gc\x1b\\",
  "controls of 8 bits (C1)": "\x9b2J\x9d0;t\x9c\x90q\x9c\x84\x85\x8d",
  "a reset": "\x1bc\x1b(0\x1b#8\x1b>",
  "questions to the terminal": "\x1b[6n\x1b[c\x1b[>q\x05",
  "other controls": "\x00\x07\x08\b\x0b\x0c\x0e\x0f\x7f",
  "overwriting": "safe\rgone\x1b[1K",
  "reordering": "\u202etxt.exe\u202c\u2066a\u2069\u200e\u200f\u061c",
  "sequences without an end": "\x1b]0;never\x1b[\x1bP\x1b",
  "sequences in sequences": "\x1b]0;\x1b[31m\x1b\x1b[[2Jm\x07",
};

const TEXTS = Object.values(HOSTILE);

// deno-lint-ignore no-control-regex -- these are what it is about
const CONTROLS = /[\0-\x09\x0b-\x1f\x7f-\x9f]|[\u202a-\u202e\u2066-\u2069]/u;

/** A service that sends each of the texts in a run of its own. */
function serveHostile(
  say: (text: string) => ReturnType<typeof events>,
): ReferenceService {
  return serveStreams(...TEXTS.map(say));
}

const PROMPTS = TEXTS.map((_, index) => `${index}\n`).join("");

Deno.test("replies go through a pipe byte for byte, whatever controls they hold (interface 1, Interactive mode rules 4)", async () => {
  await using service = serveHostile((text) => events([complete(text)]));

  const { code, stdout, stderr } = await runClient({
    args: ["--quiet"],
    env: settings(service),
    stdin: PROMPTS,
  });

  assertEquals({ code, stderr }, { code: 0, stderr: "" });
  assertEquals(stdout, TEXTS.map((text) => `${text}\n`).join(""));
});

Deno.test("the bridge hands replies and progress on as they are, as data (interface 6)", async () => {
  await using service = serveHostile((text) =>
    events([progress(text, text), complete(text)])
  );
  await using editor = new Editor({ env: settings(service) });
  const sessionId = await editor.newSession();

  for (const text of TEXTS) {
    const { result } = await editor.prompt(sessionId, text);
    assertEquals(result, { stopReason: "end_turn" });
  }
  const { stdout, stderr } = await editor.finish();

  assertEquals(editor.texts(sessionId, "agent_message_chunk"), TEXTS);
  assertEquals(
    editor.texts(sessionId, "agent_thought_chunk"),
    TEXTS.map((text) => `${text}: ${text}  \n`),
  );
  // On the wire they are escaped, as JSON asks for.
  // deno-lint-ignore no-control-regex -- these are what it is about
  assertNotMatch(stdout, /[\0-\x09\x0b-\x1f]/);
  assertEquals(stderr, "");
});

Deno.test("progress on standard error is a clean line each, also without a terminal (interface 1, Interactive mode rules 4)", async () => {
  await using service = serveHostile((text) =>
    events([progress(text, "<"), progress(">", text), complete("")])
  );

  const { stderr } = await runClient({
    env: { ...settings(service), TERM: "xterm-256color" },
    stdin: PROMPTS,
  });

  assertNotMatch(stderr, CONTROLS);
  assertEquals(stderr.split("\n").length, 3 + 2 * TEXTS.length + 1);
  assertMatch(stderr, /^safe ?gone: <$/m);
  assertMatch(stderr, /^>: here$/m);
});

Deno.test("a sequence that is cut between two events comes together on no terminal", async () => {
  const [before, after] = ["\x1b]52;c;", "cm0gLXJmIC8=\x07"];
  await using service = serveStreams(
    events([
      progress("plan", before),
      progress(after, "\x1b"),
      progress("[2J", "\x9b"),
      progress("31m", "done"),
      complete("Done."),
    ]),
  );

  const { stdout, stderr } = await runClient({
    env: settings(service),
    stdin: "a\n",
  });

  assertEquals(stdout, "Done.\n");
  assertNotMatch(stderr, CONTROLS);
  assertEquals(stderr.split("\n").slice(3), [
    "plan: 52;c;",
    "cm0gLXJmIC8=: ",
    "[2J: ",
    "31m: done",
    "",
  ]);
});

Deno.test("an error with hostile text is a clean line on standard error, and a clean message for the editor (interface 7)", async () => {
  await using service = serveStreams();
  for (const text of [...TEXTS, ...TEXTS]) {
    service.misbehave("create run", json({ message: `<${text}>` }, 400));
  }

  const { stdout, stderr } = await runClient({
    args: ["--quiet"],
    env: settings(service),
    stdin: PROMPTS,
  });
  await using editor = new Editor({ env: settings(service) });
  const sessionId = await editor.newSession();
  for (const text of TEXTS) {
    const { error } = await editor.prompt(sessionId, text);
    assertMatch(error?.message ?? "", /answered 400: /);
    assertNotMatch(error?.message ?? "", CONTROLS);
  }

  assertEquals(stdout, "");
  assertNotMatch(stderr, CONTROLS);
  assertMatch(
    stderr,
    /^(Error: Cannot start a run: the service answered 400: .*<.*\n)+$/,
  );
  assertEquals(stderr.split("\n").length, TEXTS.length + 1);
});

Deno.test("a hostile thread id is shown clean, and travels percent-encoded", async () => {
  const id = `t${TEXTS.join("\n")}/../?a#b`;
  await using service = ReferenceService.start();
  service.misbehave("create thread", json({ thread_id: id }));
  addStream(service, events([complete("Hello!")]));

  const { code, stdout, stderr } = await runClient({
    env: settings(service),
    stdin: "a\n",
  });

  assertEquals({ code, stdout }, { code: 0, stdout: "Hello!\n" });
  assertNotMatch(stderr, CONTROLS);
  assertEquals(stderr.split("\n").length, 3 + 1);
  const [, run, stream] = service.requests.map(({ path }) => path);
  assertEquals(run, `/threads/${encodeURIComponent(id)}/runs`);
  assertEquals(stream, `${run}/run-1/stream`);
});

Deno.test("the target of a hostile redirect is shown clean", async () => {
  await using service = ReferenceService.start();
  const location = "https://a\u202eb.example/\x9b31m";
  const latin = new TextDecoder("latin1").decode(
    new TextEncoder().encode(location),
  );
  service.misbehave("create thread", answer(302, "", { location: latin }));

  const { code, stderr } = await runClient({ env: settings(service) });

  assert(code !== 0);
  assertNotMatch(stderr, CONTROLS);
});
