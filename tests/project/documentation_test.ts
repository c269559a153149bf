import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ErrorCode } from "../../lib/bridge/json_rpc.ts";
import { clientPermissionFlags } from "../../tools/bundle.ts";
import { commandLine, runClient, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { unreachable } from "../support/faulty_service/service.ts";
import { answer } from "../support/service/behaviours.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { Screen, test } from "../support/tmux_screen.ts";

const ROOT = `${import.meta.dirname}/../..`;

/** The documents, with the README first. */
const FILES = ["README.md", "CONTRIBUTING.md", ...documents()];
const TEXTS = FILES.map((file) => Deno.readTextFileSync(`${ROOT}/${file}`));
const TEXT = TEXTS.join("\n");

function documents(): readonly string[] {
  return Array.from(Deno.readDirSync(`${ROOT}/docs`), ({ name }) => name)
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `docs/${name}`);
}

const SESSION_ID = "59e11a25-9cf3-4528-9187-39d7e06a546e";
const THOUGHTS_ID = "5a7c0c4e-6b0c-4c43-8b9a-8a2ad3ff1c3a";
const REPLY_ID = "e1f0a4a8-0f5d-4a52-9d26-9a4b63b7a4f6";

/** The fenced blocks of a language. */
function blocks(language: string): string[] {
  const fences = TEXT.matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return Array.from(fences)
    .filter(([, name]) => name === language)
    .map(([, , text = ""]) => text);
}

/** The lines of an editor's conversation. */
interface Exchange {
  readonly said: string[];
  readonly heard: string[];
}

const conversations: readonly Exchange[] = blocks("text")
  .filter((block) => block.startsWith("--> "))
  .map((block) => {
    const lines = block.trimEnd().split("\n");
    const after = (sign: string) =>
      lines.filter((line) => line.startsWith(sign))
        .map((line) => line.slice(sign.length));
    return { said: after("--> "), heard: after("<-- ") };
  });
const [opening, ...reference] = conversations;

Deno.test("documentation: the bridge answers as shown", async () => {
  assert(opening !== undefined && reference.length >= 7);
  const heard = await play([opening]); // More is said than it shows.
  assertEquals(
    heard.filter((line) => opening.heard.includes(line)),
    opening.heard,
  );
  assertEquals(
    await play(reference),
    reference.flatMap(({ heard }) => heard).map(withoutPromptId),
  );
});

Deno.test("documentation: the bridge asks for a linked file as shown", async () => {
  const [block] = blocks("text").filter((block) => block.startsWith("<-- "));
  const [question = "", answer = ""] = block?.split("\n") ?? [];
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  await editor.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true } },
  });
  const { sessionId } = (await editor.request("session/new")).result;
  const uri = "file:///home/me/notes.txt";
  const prompt = [{ type: "resource_link", name: "notes", uri }];

  const id = await editor.send("session/prompt", { sessionId, prompt });
  const [asked] = await editor.questions(1);
  await editor.sendLine(answer.slice("--> ".length));
  await editor.response(id);

  assertEquals(
    JSON.stringify(asked).replace(sessionId, SESSION_ID),
    question.slice("<-- ".length),
  );
  assertEquals(editor.texts(sessionId, "agent_message_chunk"), [
    `You said: [notes](${uri})\n\n<context uri="${uri}">\nBuy milk.\n</context>`,
  ]);
});

Deno.test("documentation: the bridge sends a notice as shown", async () => {
  const shown = blocks("text").find((block) => block.includes('"notice"'));
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  service.misbehave("create run", answer(429));
  const sessionId = await editor.newSession({
    protocolVersion: 1,
    clientCapabilities: { session: { notices: {} } },
  });
  await editor.prompt(sessionId, "hello");

  const notice = editor.messages.find(({ params }) =>
    params?.update?.sessionUpdate === "notice"
  );
  const text = JSON.stringify(notice).replace(sessionId, SESSION_ID);
  assertEquals(stable(`<-- ${text}\n`), stable(shown ?? ""));
});

/** Sends the lines of the editor, and returns the lines of the bridge. */
async function play(exchanges: readonly Exchange[]): Promise<string[]> {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  let sessionId = SESSION_ID;
  for (const line of exchanges.flatMap(({ said }) => said)) {
    await editor.sendLine(line.replaceAll(SESSION_ID, sessionId));
    const { id, method, params } = JSON.parse(line);
    // A prompt that hangs is answered when the next line has cancelled it.
    if (id === undefined || params?.prompt === "please hang") continue;
    const { result } = await editor.response(id);
    if (method === "session/new") sessionId = result.sessionId;
  }
  const { stdout } = await editor.finish();
  return stdout.trimEnd().replaceAll(sessionId, SESSION_ID)
    .replaceAll(/(thought_chunk","messageId":")[^"]+/g, `$1${THOUGHTS_ID}`)
    .replaceAll(/(agent_message_chunk","messageId":")[^"]+/g, `$1${REPLY_ID}`)
    .split("\n").map(withoutPromptId);
}

/** Each prompt has an id of its own. */
function withoutPromptId(line: string): string {
  return line.replace(/(user_message_chunk","messageId":")[^"]+/, "$1");
}

/** Replaces what differs between two runs of the program. */
function stable(text: string): string {
  return text.replace(/key .{11}/, "key ...")
    .replace(/^service http.*$/m, "service ...")
    .replaceAll(/(thread )[0-9a-f-]{36}/g, "$1...")
    .replaceAll(/\d+(\.\d)? s(?="?\}*$)/gm, "0 s");
}

test("README.md: the chat in a terminal looks as shown", async () => {
  const [shown = ""] = blocks("console");
  const prompts = Array.from(shown.matchAll(/^> (.+)$/gm), ([, p = ""]) => p);
  assert(prompts.length > 1);
  await using service = ReferenceService.start();
  await using screen = await Screen.open({ env: settings(service) });

  await screen.enter("agent-gateway");
  for (const prompt of prompts) {
    await screen.waitFor(/\n>$/);
    await screen.enter(prompt);
    await screen.waitFor(`> ${prompt}\n`);
  }
  const text = await screen.waitFor(/\n\[0\]\$$/);

  assertEquals(
    stable(text),
    stable(shown.replace(/^/, "[0]")) + "[0]$",
  );
});

const needsShell = { ignore: Deno.build.os === "windows" };
Deno.test(
  "README.md: the commands in a shell print what is shown",
  needsShell,
  async () => {
    const [, shown = ""] = blocks("console");
    const commands = shown.split(/^\$ /m).slice(1);
    assert(commands.length >= 4);
    await using service = ReferenceService.start();
    for (const text of commands) {
      const [command = "", ...output] = text.split("\n");
      const { stdout } = await new Deno.Command("sh", {
        args: [
          ...["-c", command.replace("agent-gateway", '"$@"'), "sh"],
          ...commandLine(),
        ],
        env: settings(service),
        stderr: "null",
      }).output();
      assertEquals(new TextDecoder().decode(stdout), output.join("\n"));
    }
  },
);

/** Why commands are not run here as they stand, with the documents or their beginnings. */
const NOT_RUN: Readonly<Record<string, readonly string[]>> = {
  "a test of its own runs them": [
    ...["docs/scripting.md", "docs/containers.md", 'eval "$(agent', "key="],
    ...["deno task -q demo", "bytes() {", "curl -sN"],
  ],
  "whoever works on this repository runs them": ["CONTRIBUTING.md"],
  "they download a release; tests run its scripts and packages": [
    ...["curl -fsSL", "irm https", "& ([script", "npm install", "npx agent"],
    ...[
      "brew tap",
      "scoop install",
      "winget install",
      "sudo apt",
      "deno install",
      "deno run",
    ],
    ...["target=x86_64", "gh attestation"],
  ],
  "the key and the URL are placeholders": [
    ...["export APP_API_KEY", "APP_API_KEY=0123"],
  ],
  "they need a keyring with a key": ["#!/bin/sh\nset -eu\n# One"],
  "each line is for another kind of file": ["openssl x509"],
};

Deno.test(
  "documentation: each command runs as it stands, or there is a reason why not",
  needsShell,
  async () => {
    const reasons = Object.values(NOT_RUN).flat();
    const used = new Set<string | undefined>(["docs/containers.md"]);
    await using service = ReferenceService.start();
    const program = commandLine().map((word) => `'${word}'`).join(" ");
    for (const [index, file] of FILES.entries()) {
      const fences = /^ *```(?:sh|powershell)\n\s*(.*?)^ *```$/gms;
      for (const [, script = ""] of TEXTS[index]?.matchAll(fences) ?? []) {
        const reason = reasons
          .find((start) => file === start || script.startsWith(start));
        used.add(reason);
        if (reason !== undefined) continue;
        const run = script.replaceAll(/\bagent-gateway\b/g, "program");
        const { code, stderr } = await new Deno.Command("sh", {
          args: ["-ec", `program() { ${program} "$@"; }\n${run}`],
          env: settings(service),
        }).output();
        assertEquals(code, 0, script + new TextDecoder().decode(stderr));
      }
    }
    assertEquals(used, new Set([undefined, ...reasons]));
  },
);

Deno.test("README.md has at most 170 lines", () => {
  const lines = (TEXTS[0] ?? "").trimEnd().split("\n");
  assert(lines.length <= 170, `${lines.length} lines`);
});

Deno.test("documentation: the commands that run the install scripts are those in their headers", async () => {
  for (const script of ["install.sh", "install.ps1"]) {
    const source = await Deno.readTextFile(`${ROOT}/tools/release/${script}`);
    const [, command] = /^# {5}(.*\/releases\/.*)$/m.exec(source) ?? [];
    for (const file of ["README.md", "docs/install.md"]) {
      assertStringIncludes(TEXTS[FILES.indexOf(file)] ?? "", `\n${command}\n`);
    }
  }
});

Deno.test("documentation: interactive mode prints through a pipe what is shown", async () => {
  const shown = blocks("text").find((block) =>
    /^agent-gateway .* key /.test(block)
  );
  assert(shown !== undefined);
  await using service = ReferenceService.start();

  const { stdout, stderr } = await runClient({
    env: settings(service),
    stdin: "hello\n",
  });

  assertEquals(stable(stderr + stdout), stable(shown));
});

Deno.test("documentation: the table of error codes is that of the bridge", () => {
  const codes = TEXT.matchAll(/^\| (-32\d{3}) \|/gm);
  assertEquals(
    Array.from(codes, ([, code]) => Number(code)).sort(),
    Object.values<number>(ErrorCode).sort(),
  );
});

Deno.test("documentation: the permission flags match the client's needs", () => {
  assertStringIncludes(TEXT, clientPermissionFlags.join(" "));
});

Deno.test("documentation: --check tells the steps that are shown", async () => {
  const shown = blocks("text").find((block) => /^agent-.*\nok /.test(block));
  const { stdout } = await runClient({
    args: ["--check"],
    env: { APP_API_KEY: TEST_KEY, APP_BASE_URL: unreachable() },
  });
  const steps = (text = "") =>
    text.trimEnd().split("\n").slice(1).map((line) => line.slice(8, 18).trim());
  assertEquals(steps(stdout), steps(shown));
});

Deno.test("documentation: each editor starts the program by an absolute path", () => {
  const page = TEXTS[FILES.indexOf("docs/editors.md")] ?? "";
  const [, ...sections] = page.split(/^## /m);
  const snippets = sections.flatMap((section) =>
    section.match(/^```(?:json|lua|elisp|python|sh)\n.*?^```$/gms) ?? []
  ).filter((snippet) => /--bridge/.test(snippet));
  assert(snippets.length >= 8);
  for (const snippet of snippets) {
    assertStringIncludes(snippet, "/absolute/path/agent-gateway");
    assertEquals(
      snippet.match(/npx|(?<![\w/])agent-gateway"?,? "?--bridge/),
      null,
    );
  }
});

Deno.test("documentation: its JSON blocks are JSON", () => {
  assert(blocks("json").length > 0);
  for (const block of blocks("json")) JSON.parse(block);
});

/** The anchors that GitHub gives to the headings of a document. */
function anchorsOf(markdown: string): readonly string[] {
  const headings = markdown.replaceAll(/^```.*?^```$/gms, "")
    .matchAll(/^#+ (.*)$/gm);
  return Array.from(
    headings,
    ([, title = ""]) =>
      title.toLowerCase().replaceAll(/[^\w\- ]/g, "").replaceAll(" ", "-"),
  );
}

Deno.test("documentation: what it names in the repository is there", async () => {
  for (const file of [...FILES, "SECURITY.md", "CHANGELOG.md"]) {
    const text = (await Deno.readTextFile(`${ROOT}/${file}`))
      .replaceAll(/https:\S*\/blob\/main\//g, "./");
    const paths = text.matchAll(/\b(?:lib|tests|tools)\/[\w/]+\.ts\b/g);
    for (const [path] of paths) await Deno.stat(`${ROOT}/${path}`);
    const links = text.replaceAll(/`[^`]*`/g, "")
      .matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g);
    for (const [, path = "", anchor = ""] of links) {
      const target = new URL(path, `file://${ROOT}/${file}`);
      await Deno.stat(target);
      if (anchor === "") continue;
      const anchors = anchorsOf(await Deno.readTextFile(target));
      assert(anchors.includes(anchor), `${file}: ${path} has no #${anchor}`);
    }
  }
});
