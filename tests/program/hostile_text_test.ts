import { assertEquals, assertNotMatch } from "@std/assert";
import { runClient, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import {
  complete,
  events,
  json,
  progress,
} from "../support/service/behaviours.ts";
import {
  type ReferenceService,
  serveStreams,
} from "../support/service/service.ts";

// What is removed of a text is tested in tests/lib/text/plain_text_test.ts.

/** Text that controls a terminal, or that is shown in another order. */
const HOSTILE = "\x1b[31;1mred\x1b[2J\x1b]0;title\x07\x1b]52;c;cm0=\x07" +
  "\x9b2J\x00\x07\x7f\u202etxt\u2066\x1b]0;never\x1b[";
const CLEAN = "redtxt0;never";

/** A service with a run of hostile text, and then one that it refuses with such text. */
function serveHostile(): ReferenceService {
  const service = serveStreams(
    events([progress(HOSTILE, HOSTILE), complete(HOSTILE)]),
  );
  service.misbehave("create run", json({ message: HOSTILE }, 400));
  return service;
}

const REFUSED = `The service answered 400: ${CLEAN}.`;

Deno.test("replies go through a pipe byte for byte; progress and errors are a clean line each on standard error (interface 1, Interactive mode rules 4)", async () => {
  await using service = serveHostile();
  const { stdout, stderr } = await runClient({
    env: { ...settings(service), TERM: "xterm-256color" },
    stdin: "one\ntwo\n",
  });

  assertEquals(stdout, `${HOSTILE}\n`);
  assertEquals(stderr.split("\n").slice(3), [
    `${CLEAN}: ${CLEAN}`,
    `agent-gateway: error: Prompt 2 on thread thread-1: ${REFUSED}`,
    "",
  ]);
});

Deno.test("the bridge hands replies and progress on as they are, escaped as JSON, and errors clean (interface 6)", async () => {
  await using service = serveHostile();
  await using editor = new Editor({ env: settings(service) });
  const sessionId = await editor.newSession();
  await editor.prompt(sessionId, "one");
  const { error } = await editor.prompt(sessionId, "two");
  const { stdout, stderr } = await editor.finish();

  assertEquals(editor.texts(sessionId, "agent_message_chunk"), [HOSTILE]);
  assertEquals(editor.texts(sessionId, "agent_thought_chunk"), [
    `${HOSTILE}: ${HOSTILE}  \n`,
  ]);
  assertEquals([error?.message, stderr], [REFUSED, ""]);
  // deno-lint-ignore no-control-regex -- these are what it is about
  assertNotMatch(stdout, /[\0-\x09\x0b-\x1f]/);
});

Deno.test("no line on standard error commands a runner of CI", async () => {
  for (const variable of ["GITHUB_ACTIONS", "TF_BUILD"]) {
    await using service = serveStreams(
      events([progress("::stop-commands::x", "##[error]y"), complete("::z")]),
    );
    const env = { ...settings(service), [variable]: "true" };
    const { stdout, stderr } = await runClient({ args: ["-p", "one"], env });
    assertEquals(stdout, "::z\n");
    assertEquals(
      stderr.split("\n").at(-2),
      ": :stop-commands::x: # #[error]y",
    );
  }
});
