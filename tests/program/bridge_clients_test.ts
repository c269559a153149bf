import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { commandLine, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { events, progress } from "../support/service/behaviours.ts";
import { ReferenceService } from "../support/service/service.ts";

/** What a client does in a conversation, in order. */
type Step =
  /**
   * A line that the client sends, with the id of its session in place of `SESSION`.
   * If it is a request, the next step waits for its answer, unless that step cancels
   * it.
   */
  | string
  /** The client starts a second bridge process, because the first one has ended. */
  | "restart";

/** The recorded messages of one client, unchanged. */
interface ClientRecording {
  /** The client with its version, and how the recording was made. */
  readonly client: string;
  readonly steps: readonly Step[];
  /** The client's answers to `fs/read_text_file`, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** The prompts that the service has to receive. */
  readonly prompts: readonly string[];
  /** The last reply that the client has to receive. */
  readonly reply: string;
}

/** What a session of an earlier process is loaded with. */
const NOTE = "Earlier messages are not shown here.";

const NOTES = "file:///home/me/notes.txt";

const MAIN = "file:///home/me/main.cpp";
const QT_STATE =
  "This is the state of the current Text Editor in Qt Creator\n" +
  "Cursor Position: 12, Line(0-based): 0, Column(0-based): 12\n" +
  "Cursor Anchor: 12, Line(0-based): 0, Column(0-based): 12\n" +
  "First Visible Line: 0\nLast Visible Line: 1";
const QT_PROMPT = `6 * 7 [main.cpp](${MAIN}) [main.cpp](${MAIN})` +
  `\n\n<context uri="${MAIN}">\nint main() {}\n</context>` +
  `\n\n<context uri="${MAIN}">\n${QT_STATE}\n</context>`;

/** A prompt of avante, as the service receives it. */
function avantePrompt(text: string): string {
  const uri = "file:///home/me/my notes.txt";
  return `[my notes.txt](${uri}) <previous_user_message>${text}</previous_user_message>\n` +
    "<system_context>Continuing from previous session with 1 recent user messages</system_context>" +
    `\n\n<context uri="${uri}">\nBuy milk.\n</context>`;
}

/**
 * One conversation of each client. Those with "(recorded)" in their name were
 * recorded between the client and the bridge, with other paths; those of Zed and Qt
 * Creator were written by hand from their sources at the versions named.
 */
const CLIENT_RECORDINGS: readonly ClientRecording[] = [
  {
    client: "avante.nvim at a9334315 in Neovim 0.12.4 (recorded)",
    steps: [
      // The path is not encoded in the URI
      '{"jsonrpc":"2.0","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}}},"id":1,"method":"initialize"}',
      '{"jsonrpc":"2.0","params":{"cwd":"/home/me","mcpServers":[]},"id":2,"method":"session/new"}',
      '{"jsonrpc":"2.0","params":{"sessionId":"SESSION","prompt":[{"name":"my notes.txt","type":"resource_link","uri":"file:///home/me/my notes.txt"},{"text":"<previous_user_message>what do they say</previous_user_message>","type":"text"},{"text":"<system_context>Continuing from previous session with 1 recent user messages</system_context>","type":"text"}]},"id":3,"method":"session/prompt"}',
      '{"jsonrpc":"2.0","params":{"sessionId":"SESSION","prompt":[{"name":"my notes.txt","type":"resource_link","uri":"file:///home/me/my notes.txt"},{"text":"<previous_user_message>please hang</previous_user_message>","type":"text"},{"text":"<system_context>Continuing from previous session with 1 recent user messages</system_context>","type":"text"}]},"id":4,"method":"session/prompt"}',
      '{"jsonrpc":"2.0","params":{"sessionId":"SESSION"},"method":"session/cancel"}',
      '{"jsonrpc":"2.0","params":{"sessionId":"SESSION","prompt":[{"name":"my notes.txt","type":"resource_link","uri":"file:///home/me/my notes.txt"},{"text":"<previous_user_message>6 * 7</previous_user_message>","type":"text"},{"text":"<system_context>Continuing from previous session with 1 recent user messages</system_context>","type":"text"}]},"id":5,"method":"session/prompt"}',
    ],
    files: { "/home/me/my notes.txt": "Buy milk." },
    prompts: ["what do they say", "please hang", "6 * 7"].map(avantePrompt),
    reply: `You said: ${avantePrompt("6 * 7")}`,
  },
  {
    client: "Zed at 0038d2e2",
    steps: [
      '{"jsonrpc":"2.0","id":"5a1f0a4e-58a5-4c94-8a3c-1f1f3d6f0001","method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"auth":{"terminal":true},"session":{"configOptions":{"boolean":{}}},"elicitation":{"form":{},"url":{}},"_meta":{"terminal_output":true,"terminal-auth":true}},"clientInfo":{"name":"zed","title":"Zed","version":"1.0.0"}}}',
      '{"jsonrpc":"2.0","id":"5a1f0a4e-58a5-4c94-8a3c-1f1f3d6f0002","method":"session/new","params":{"cwd":"/home/me","mcpServers":[]}}',
      `{"jsonrpc":"2.0","id":"5a1f0a4e-58a5-4c94-8a3c-1f1f3d6f0003","method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"explain "},{"type":"resource","resource":{"mimeType":null,"text":"Remember the milk.\\n","uri":"${NOTES}"}},{"type":"text","text":" please"}]}}`,
      '{"jsonrpc":"2.0","id":"5a1f0a4e-58a5-4c94-8a3c-1f1f3d6f0004","method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"please hang"}]}}',
      '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"SESSION"}}',
      '{"jsonrpc":"2.0","id":"5a1f0a4e-58a5-4c94-8a3c-1f1f3d6f0005","method":"session/close","params":{"sessionId":"SESSION"}}',
      '{"jsonrpc":"2.0","id":"5a1f0a4e-58a5-4c94-8a3c-1f1f3d6f0006","method":"session/resume","params":{"sessionId":"SESSION","cwd":"/home/me","mcpServers":[]}}',
      '{"jsonrpc":"2.0","id":"5a1f0a4e-58a5-4c94-8a3c-1f1f3d6f0007","method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"6 * 7"}]}}',
    ],
    prompts: [
      `explain [notes.txt](${NOTES}) please\n\n<context uri="${NOTES}">\nRemember the milk.\n</context>`,
      "please hang",
      "6 * 7",
    ],
    reply: "6 * 7 = 42",
  },
  {
    client: "Qt Creator at 030b06b4",
    steps: [
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true},"clientInfo":{"name":"QtCreator","version":"1.0"},"protocolVersion":1}}',
      '{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/home/me","mcpServers":[]}}',
      // The current editor: a link, and its state as a resource of the same URI
      `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"prompt":[{"text":"6 * 7","type":"text"},{"description":"Qt Creators current main Text Editor file.","name":"main.cpp","type":"resource_link","uri":"${MAIN}"},{"resource":{"text":${
        JSON.stringify(`${QT_STATE}\n`)
      },"uri":"${MAIN}"},"type":"resource"}],"sessionId":"SESSION"}}`,
    ],
    files: { "/home/me/main.cpp": "int main() {}\n" },
    prompts: [QT_PROMPT],
    reply: `You said: ${QT_PROMPT}`,
  },
  {
    client: "acp-ui 0.1.15 in Chromium (recorded)",
    steps: [
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false}},"clientInfo":{"name":"acp-ui","title":"ACP UI","version":"0.1.15"}}}',
      '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/home/me","mcpServers":[]}}',
      '{"jsonrpc":"2.0","method":"$/ping"}',
      '{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"one"}]}}',
      "restart",
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false}},"clientInfo":{"name":"acp-ui","title":"ACP UI","version":"0.1.15"}}}',
      '{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"SESSION","cwd":"/home/me","mcpServers":[]}}',
      '{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"what did I say before?"}]}}',
    ],
    prompts: ["one", "what did I say before?"],
    reply: "Earlier on this thread you said:\n1. one",
  },
];

/** The stream of a prompt that the client's next line cancels. */
const HANGING = events([progress("hang", "started")], { end: "hang" });

for (const recording of CLIENT_RECORDINGS) {
  Deno.test(`${recording.client} gets its answers from initialize to the end`, async () => {
    await using service = ReferenceService.start();
    const { prompts, reply } = recording;

    const { sessionId, replies } = await replay(recording, service);

    const runs = service.requests.filter(({ operation }) =>
      operation === "create run"
    );
    assertEquals<unknown>(
      runs.map(({ body }) => JSON.parse(body).prompt),
      prompts,
    );
    assert(
      runs.every(({ path }) => path.startsWith(`/threads/${sessionId}/`)),
      "a prompt ran on another thread",
    );
    assertEquals(replies.at(-1), reply);
    const loads = recording.steps.some((step) => step.includes("session/load"));
    assertEquals(replies.includes(NOTE), loads);
  });
}

/** Sends the client's lines to one bridge process after the other. */
async function replay(
  { steps, files = {} }: ClientRecording,
  service: ReferenceService,
): Promise<{ readonly sessionId: string; readonly replies: string[] }> {
  let sessionId = "";
  const replies: string[] = [];
  for (const lines of processes(steps)) {
    await using editor = new Editor({ env: settings(service) });
    serveFiles(editor, files).catch(() => {}); // It has ended.
    for (const line of lines) {
      const hangs = line.includes("please hang");
      if (hangs) service.misbehave("stream", HANGING);
      await editor.sendLine(line.replaceAll("SESSION", sessionId));
      const { id, method } = JSON.parse(line);
      if (id === undefined) continue;
      if (hangs) {
        await editor.update(sessionId, "hang: started");
        continue; // The next line cancels the prompt.
      }
      const { result, error } = await editor.response(id);
      assertEquals(error, undefined, line);
      if (method === "session/new") sessionId = result.sessionId;
    }
    const { code, stderr } = await editor.finish();
    assertEquals([code, stderr], [0, ""]);
    replies.push(...editor.texts(sessionId, "agent_message_chunk"));
  }
  return { sessionId, replies };
}

/** Answers the requests for files until the bridge ends. */
async function serveFiles(
  editor: Editor,
  files: Readonly<Record<string, string>>,
): Promise<never> {
  for (let count = 1;; count++) {
    const question = (await editor.questions(count))[count - 1];
    assert(question !== undefined);
    await editor.answer(question, { content: files[question.params.path] });
  }
}

/** The lines of each process. */
function processes(steps: readonly string[]): string[][] {
  const all: string[][] = [[]];
  for (const step of steps) {
    if (step === "restart") all.push([]);
    else all.at(-1)?.push(step);
  }
  return all;
}

/**
 * The client acpx, if it is installed (`npm install acpx@0.19.1`, Node.js 22):
 * a path, or a name on `PATH`.
 */
const ACPX = Deno.env.get("ACPX") ?? "acpx";

const isInstalled = await canRun(ACPX);
const name = "acpx prompts in a session that each of its processes resumes";

Deno.test({
  name: isInstalled ? name : `${name} (skipped: no acpx)`,
  ignore: !isInstalled || Deno.build.os === "windows",
  async fn() {
    await using service = ReferenceService.start();
    const folder = await Deno.makeTempDir();
    const agent = `${folder}/agent`;
    const words = [...commandLine(), "--bridge"].map((word) => `'${word}'`);
    // acpx gets a home of its own, and Deno keeps its cache.
    const home = Deno.env.get("HOME");
    await Deno.writeTextFile(
      agent,
      `#!/bin/sh\nHOME='${home}' exec ${words.join(" ")}\n`,
    );
    await Deno.chmod(agent, 0o700);
    const acpx = async (...args: string[]) => {
      const { success, stdout, stderr } = await new Deno.Command(ACPX, {
        args: ["--agent", agent, "--cwd", folder, "--ttl", "1", ...args],
        env: { HOME: folder, ...settings(service) },
      }).output();
      const text = new TextDecoder().decode(stdout);
      assertEquals(success, true, text + new TextDecoder().decode(stderr));
      return text;
    };

    assertStringIncludes(await acpx("exec", "6 * 7"), "6 * 7 = 42");
    await acpx("sessions", "new");
    assertStringIncludes(await acpx("hello"), "Hello! I am the-brain.");
    await acpx("sessions", "close"); // ends the process that holds the session

    const turn = ["create thread", "create run", "stream"];
    const calls = service.requests.map(({ operation }) => operation);
    assertEquals<unknown>(calls, [...turn, ...turn]);
    await Deno.remove(folder, { recursive: true });
  },
});

async function canRun(program: string): Promise<boolean> {
  try {
    const args = ["--version"];
    return (await new Deno.Command(program, { args }).output()).success;
  } catch {
    return false;
  }
}
