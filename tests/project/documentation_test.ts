import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ErrorCode } from "../../lib/bridge/json_rpc.ts";
import {
  type Option,
  OPTIONS,
  spellings,
  STANDARD_INPUT_EFFECT,
} from "../../lib/command_line/options.ts";
import { clientPermissionFlags } from "../../tools/permission_flags.ts";
import { runClient, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { unreachable } from "../support/unreachable.ts";

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
    const behind = (sign: string) =>
      lines.filter((line) => line.startsWith(sign))
        .map((line) => line.slice(sign.length));
    return { said: behind("--> "), heard: behind("<-- ") };
  });
const [opening, ...reference] = conversations;

Deno.test("documentation: the conversation at its top happens, and more is said", async () => {
  assert(opening !== undefined);
  const heard = await play([opening]);
  assertEquals(
    heard.filter((line) => opening.heard.includes(line)),
    opening.heard,
  );
});

Deno.test("documentation: the bridge answers each message as shown", async () => {
  assert(reference.length >= 7);
  assertEquals(
    await play(reference),
    reference.flatMap(({ heard }) => heard),
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

/** Sends the lines that the README shows, and returns the answers. */
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
  return stdout.trimEnd().replaceAll(sessionId, SESSION_ID).split("\n");
}

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

  const stable = (text: string) =>
    text.replace(/key .{11}/, "key ...")
      .replace(/127\.0\.0\.1:\d+/, "127.0.0.1:...")
      .replace(/thread [0-9a-f-]{36}/, "thread ...");
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

Deno.test("documentation: the table of options is that of the program", async () => {
  const text = await Deno.readTextFile(`${ROOT}/docs/command-line.md`);
  const table = text.matchAll(/^\| (`-.*?`) +\| (.*?) +\|$/gm);
  const options: readonly Option[] = OPTIONS;
  assertEquals(
    Array.from(table, ([, names, effect]) => [names, effect]),
    [
      ...options.map((option) => {
        const names = spellings(option).map((name) => `\`${name}\``).join(", ");
        const value = option.value === undefined ? "" : ` ${option.value}`;
        return [names.replace(/`$/, `${value}\``), option.effect];
      }),
      ["`-`", STANDARD_INPUT_EFFECT],
    ],
  );
});

Deno.test("documentation: --check tells the steps that are shown", async () => {
  const shown = blocks("text").find((block) => /^agent-.*\nok /.test(block));
  const { stdout } = await runClient({
    args: ["--check"],
    env: { APP_API_KEY: TEST_KEY, APP_BASE_URL: unreachable() },
  });
  const steps = (text = "") =>
    text.trimEnd().split("\n").slice(1).map((line) => line.slice(9, 19).trim());
  assertEquals(
    steps(stdout),
    steps(shown).filter((step) => step !== "TLS"), // there is no connection
  );
});

Deno.test("documentation: --help shows every option", async () => {
  const { stdout } = await runClient({ args: ["--help"], env: {} });
  for (const option of OPTIONS) {
    assertStringIncludes(stdout, ` ${spellings(option).join(", ")} `);
  }
});

Deno.test("documentation: its JSON blocks are JSON", () => {
  assert(blocks("json").length > 0);
  for (const block of blocks("json")) JSON.parse(block);
});

for (const [index, file] of FILES.entries()) {
  Deno.test(`${file}: what it links to in the repository is there`, async () => {
    const links = Array.from(
      (TEXTS[index] ?? "").replaceAll(/`[^`]*`/g, "")
        .matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g),
      ([, path = ""]) => path,
    );
    for (const path of links) {
      await Deno.stat(new URL(path, `file://${ROOT}/${file}`));
    }
  });
}
