import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertStringIncludes,
} from "@std/assert";
import { globSync } from "node:fs";
import config from "../../deno.json" with { type: "json" };
import { parseCommandLine } from "../../lib/command_line.ts";
import { usage } from "../../lib/command_line/usage.ts";
import { clientPermissionFlags } from "../../tools/bundle.ts";
import { PAGES, updated } from "../../tools/docs.ts";
import { runClient, settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { ReferenceService } from "../support/service/service.ts";
import { Screen, test } from "../support/tmux_screen.ts";

const ROOT = `${import.meta.dirname}/../..`;

function read(path: string): string {
  return Deno.readTextFileSync(`${ROOT}/${path}`);
}

const DOCUMENTS = [...PAGES, "CHANGELOG.md"].filter((it) => it.endsWith(".md"));

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

const FENCE = /^ *```(\w+)\n(.*?)^ *```$/gms;

/** The fenced blocks of a language on a page. */
function blocks(page: string, language: string): readonly string[] {
  return Array.from(read(page).matchAll(FENCE))
    .filter(([, name]) => name === language).map(([, , text = ""]) => text);
}

for (const page of PAGES) {
  Deno.test(`${page} says what the source says (if not, run deno task docs)`, () => {
    const text = read(page);
    assert(updated(text) === text, `${page} is out of date: deno task docs`);
    const older = updated(text.replaceAll(config.version, "0.0.0"));
    assert(older === text, `${page} shows ${config.version} somewhere else`);
  });
}

const FACTS = "tests/project/foreign_facts.txt";

/** By page: the numbers in its prose, and the names in its code that no source has. */
const FOREIGN = new Map(
  read(FACTS).split(/^## /m).slice(1)
    .map((section) => section.trim().split(/\n+([^]*)/) as [string, string]),
);

/** The options, versions and names of the program and its tools. */
const KNOWN = namesOf(
  globSync("{lib,tools,docs,.github}/**/*.*", { cwd: ROOT })
    .filter((path) => /\.(?!md|svg)[a-z]+$/.test(path)).map(read).join("\n") +
    usage(),
);

function namesOf(code: string): ReadonlySet<string> {
  return new Set(
    code.match(
      /--[a-z][\w-]+|(?<=\b(?:apt|deno|docker|gh|kubectl|npm) )[a-z]+|\b\w*(?:_\w|[a-z][A-Z]|[A-Z]{2})\w*|\d+\.\d+\.\d+/g,
    ),
  );
}

for (const page of DOCUMENTS.filter((it) => it !== "CHANGELOG.md")) {
  Deno.test(`${page} has only facts of the sources, and those in ${FACTS}`, () => {
    const text = read(page)
      .replaceAll(
        /<!-- (?:deno task|The table).*?<!-- (?:end|It ends) -->/gs,
        "",
      )
      .replaceAll(/\]\([^)]*\)|\b(?:lib|tests|tools)\/[\w./]+/g, "").replaceAll(
        UUID,
        "",
      );
    const CODE = RegExp(`${FENCE.source}|\`[^\`]*\``, FENCE.flags);
    const numbers = text.replaceAll(CODE, "").match(/\d[\d.]*(?<!\.)/g) ?? [];
    const names = namesOf(text.match(CODE)?.join("\n") ?? "").difference(KNOWN);
    const facts = [numbers.join(" "), [...names].join(" ")].join("\n").trim();
    assertEquals(facts, FOREIGN.get(page) ?? "");
  });
}

/** Numbers the ids in lines; those of runs are known only if a prompt got that far. */
function numbered(lines: string): string {
  const known = lines.replaceAll(/,"(?:runId|requestId)":"[^"]+"/g, "");
  const ids = Array.from(new Set(known.match(UUID)));
  return known.replaceAll(UUID, (id) => `#${ids.indexOf(id)}`);
}

Deno.test("docs/bridge.md: the bridge answers as shown", async () => {
  const lines = blocks("docs/bridge.md", "text")
    .filter((block) => block.startsWith("--> ")).join("").split("\n");
  const after = (sign: string) =>
    lines.filter((line) => line.startsWith(sign))
      .map((line) => line.slice(sign.length));
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  let sessionId = "";
  for (const line of after("--> ")) {
    await editor.sendLine(line.replaceAll(UUID, sessionId));
    const { jsonrpc, id, method, params } = JSON.parse(line);
    assertEquals(jsonrpc, "2.0");
    // A prompt that hangs is answered when the next line has cancelled it.
    if (id === undefined || params?.prompt === "please hang") continue;
    const { result } = await editor.response(id);
    if (method === "session/new") sessionId = result.sessionId;
  }
  const { stdout } = await editor.finish();

  const heard = after("<-- ");
  assert(heard.length > 15);
  assertEquals(numbered(stdout.trimEnd()), numbered(heard.join("\n")));
});

/** Replaces what differs between two runs of the program. */
function stable(text: string): string {
  return text.replace(/key .{11}/, "key ...")
    .replace(/^service http.*$/m, "service ...")
    .replaceAll(UUID, "...")
    .replaceAll(/\d+(\.\d)? s$/gm, "0 s");
}

test("README.md: the chat in a terminal looks as shown", async () => {
  const [shown = ""] = blocks("README.md", "console");
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

  assertEquals(stable(text), stable(shown.replace(/^/, "[0]")) + "[0]$");
});

Deno.test("docs/service.md: the check reports as shown", async () => {
  const [shown = ""] = blocks("docs/service.md", "text").slice(1);
  await using service = ReferenceService.start();
  const args = ["--check", "-p", "hello"];
  const { stdout } = await runClient({ args, env: settings(service) });

  const lines = (report: string) =>
    report.replaceAll(UUID, "").replaceAll(/[\d.]+(?= m?s\b)/g, "")
      .replace(/https?:\S+/, "").replaceAll(/ +/g, " ")
      .replace(" for a service on this machine", "").split("\n").slice(1)
      .filter((line) => !line.includes("live")); // it comes after 2 s
  assertEquals(lines(stdout), lines(shown));
});

Deno.test("the calls on the pages are calls that the program takes", async () => {
  const CALL =
    /(?<!\w |[\w/])agent-gateway(?= -)((?: -[-\w]*(?:="[^"]*")?| "[^"\n]*"| \w+)+)/g;
  const calls = DOCUMENTS.flatMap((page) =>
    Array.from(read(page).matchAll(CALL))
  );
  assert(calls.length > 25);
  for (const [, call = ""] of calls) {
    const args = call.match(/"[^"]*"|[^\s"]+(?:"[^"]*")?/g) ?? [];
    await parseCommandLine(args.map((it) => it.replaceAll('"', "")));
  }
});

Deno.test("docs/install.md: the permission flags match the client's needs", () => {
  const flags = clientPermissionFlags.join(" ");
  assertStringIncludes(read("docs/install.md"), flags);
});

Deno.test("docs/editors.md: each editor starts the program by an absolute path", () => {
  const settings = blocks("docs/editors.md", "json");
  for (const text of settings) {
    assertMatch(
      text,
      /"command": "\/absolute\/path\/agent-gateway",\s+"args": \["--bridge"\],\s+"env": \{\}/,
    );
  }
  const files = globSync("docs/editors/*", { cwd: ROOT }).map(read);
  for (const text of [...blocks("docs/editors.md", "sh"), ...files]) {
    assertStringIncludes(text, "/absolute/path/agent-gateway");
    assertNotMatch(text, /npx|(?<![\w/])agent-gateway"?,? "?--bridge/);
  }
});

for (const page of DOCUMENTS) {
  Deno.test(`${page}: its JSON is JSON, and the tasks, files and headings that it names are there`, async () => {
    for (const block of blocks(page, "json")) JSON.parse(block);
    const text = read(page)
      .replaceAll(/https:\S*\/blob\/main\//g, "./");
    const paths = text.match(/\b(?:lib|tests|tools)\/[\w/]+\.ts\b/g) ?? [];
    for (const path of paths) await Deno.stat(`${ROOT}/${path}`);
    for (const [, task = ""] of text.matchAll(/deno task (?:-q )?(\w+)/g)) {
      assert(task in config.tasks, `there is no task ${task}`);
    }
    const links = text.replaceAll(/`[^`]*`/g, "")
      .matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g);
    for (const [, path = "", anchor = ""] of links) {
      const target = new URL(path, `file://${ROOT}/${page}`);
      await Deno.stat(target);
      if (anchor !== "") assertAnchor(await Deno.readTextFile(target), anchor);
    }
  });
}

Deno.test("--help links to a heading of the README", () => {
  const [, anchor = ""] = /agent-gateway#(\S+)/.exec(usage()) ?? [];
  assertAnchor(read("README.md"), anchor);
});

/** Fails if no heading of a document has this anchor at GitHub. */
function assertAnchor(markdown: string, anchor: string): void {
  const headings = markdown.replaceAll(/^```.*?^```$/gms, "")
    .match(/^#+ .*$/gm) ?? [];
  const anchors = headings.map((heading) =>
    heading.replace(/^#+ /, "").toLowerCase().replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-")
  );
  assert(anchors.includes(anchor), `there is no heading #${anchor}`);
}
