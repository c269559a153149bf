import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { clientPermissionFlags } from "../../tools/bundle.ts";
import { usage } from "../../lib/command_line/usage.ts";
import { settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { ReferenceService } from "../support/service/service.ts";
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

const reference: readonly Exchange[] = blocks("text")
  .filter((block) => block.startsWith("--> "))
  .map((block) => {
    const lines = block.trimEnd().split("\n");
    const after = (sign: string) =>
      lines.filter((line) => line.startsWith(sign))
        .map((line) => line.slice(sign.length));
    return { said: after("--> "), heard: after("<-- ") };
  });
Deno.test("documentation: the bridge answers as shown", async () => {
  assert(reference.length >= 7);
  assertEquals(
    await play(reference),
    reference.flatMap(({ heard }) => heard).map(withoutOwnIds),
  );
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
    .split("\n").map(withoutOwnIds);
}

/** Each prompt, run and request has an id of its own, known if it got that far. */
function withoutOwnIds(line: string): string {
  return line.replace(/(user_message_chunk","messageId":")[^"]+/, "$1")
    .replaceAll(/,"(?:runId|requestId)":"[^"]+"/g, "");
}

/** Replaces what differs between two runs of the program. */
function stable(text: string): string {
  return text.replace(/key .{11}/, "key ...")
    .replace(/^service http.*$/m, "service ...")
    .replaceAll(/(thread )[0-9a-f-]{36}/g, "$1...")
    .replaceAll(/\d+(\.\d)? s$/gm, "0 s");
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

Deno.test("documentation: the permission flags match the client's needs", () => {
  assertStringIncludes(TEXT, clientPermissionFlags.join(" "));
});

Deno.test("documentation: each editor starts the program by an absolute path", () => {
  const page = TEXTS[FILES.indexOf("docs/editors.md")] ?? "";
  const folder = `${ROOT}/docs/editors`;
  const files = Array.from(Deno.readDirSync(folder), ({ name }) => {
    assertStringIncludes(page, `(editors/${name})`);
    return Deno.readTextFileSync(`${folder}/${name}`);
  });
  const fences = page.match(/^```(?:json|sh)\n.*?^```$/gms) ?? [];
  const snippets = [...fences, ...files].filter((it) => /--bridge/.test(it));
  assert(snippets.length >= 6);
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

Deno.test("documentation: --help links to a heading of the README", () => {
  const [, anchor = ""] = /agent-gateway#(\S+)/.exec(usage()) ?? [];
  const anchors = anchorsOf(TEXTS[0] ?? "");
  assert(anchors.includes(anchor), `README.md has no #${anchor}`);
});
