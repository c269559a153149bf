import { setImmediate } from "node:timers/promises";
import { assert, assertEquals } from "@std/assert";
import {
  filePath,
  readAttachedFiles,
} from "../../../lib/bridge/attached_files.ts";
import type { RpcResponse } from "../../../lib/bridge/json_rpc.ts";
import { FakeClock } from "../../support/clocks.ts";

const MIB = 1024 * 1024;
const NEVER = new AbortController().signal;

const PATHS: Readonly<Record<string, string>> = {
  "file:///home/me/notes.md": "/home/me/notes.md",
  "FILE:///a": "/a",
  "file:/a": "/a",
  "file://localhost/a": "/a",
  "file://LOCALHOST/a": "/a",
  "file:///a%20b%C3%BC": "/a bü",
  "file:///a b": "/a b",
  "file:///ü": "/ü",
  "file:///a.ts#L1-L2": "/a.ts",
  "file:///a/../b": "/b",
  "file:///C:/Users/me/a.ts": "C:\\Users\\me\\a.ts",
  "file:///c%3A/Users/me/a.ts": "c:\\Users\\me\\a.ts",
  "file:///C:%5CUsers%5Cme%5Ca.ts": "C:\\Users\\me\\a.ts",
  "file://wsl.localhost/Debian/a.ts": "\\\\wsl.localhost\\Debian\\a.ts",
};
const NO_PATHS = [
  // Another host, in every spelling
  ...["file://host/a", "file://127.0.0.1/a", "file:////host/a"],
  ...["file://///host/a", "file:///%5C%5Chost/a", "file:///%5Chost/a"],
  ...["file:\\\\host\\a", "file:/\\host/a"],
  // Not the path of a file
  ...["file:a", "file:", "file:///a%2Fb", "file:///a%00b", "file:///%ff"],
  ...["file:///%", "file:///a\nb", " file:///a", "https://host/a"],
  ...["/home/me/notes.md", "notes.md", ""],
];
Deno.test("filePath() is the path of a file on the editor's machine", () => {
  for (const [uri, path] of Object.entries(PATHS)) {
    assertEquals(filePath(uri), path, uri);
  }
  for (const uri of NO_PATHS) assertEquals(filePath(uri), undefined, uri);
});

/** A response of the editor. */
function answer(result: unknown, error?: unknown): RpcResponse {
  return { kind: "response", id: 1, result, error };
}

/** A response that holds a file. */
const content = (text: unknown) => answer({ content: text });

/** Reads files from an editor that answers by these functions. */
function read(
  files: Readonly<Record<string, () => Promise<RpcResponse | undefined>>>,
): Promise<ReadonlyMap<string, string>> {
  return readAttachedFiles(Object.keys(files).map((path) => `file://${path}`), {
    ask: (path) => files[path]?.() ?? Promise.resolve(undefined),
    signal: NEVER,
  });
}

Deno.test("readAttachedFiles() asks for all files at once, and for each one once", async () => {
  const asked: string[] = [];
  const all = Promise.withResolvers<void>();

  const uris = ["file:///a", "https://host/b", "file://localhost/a"];
  const texts = await readAttachedFiles([
    ...uris,
    ...["file:///c", "file:///%63"],
  ], {
    ask: async (path) => {
      asked.push(path);
      if (asked.length === 2) all.resolve();
      await all.promise;
      return content(`text of ${path}`);
    },
    signal: NEVER,
  });

  assertEquals(asked, ["/a", "/c"]);
  assertEquals(
    Array.from(texts),
    [["file:///a", "text of /a"], ["file:///c", "text of /c"]],
  );
});

Deno.test("readAttachedFiles() leaves out a file for which it gets an error, nothing, or no text", async () => {
  const nothing = [undefined, answer({}), answer(null), content(["x"])];
  for (const response of [...nothing, answer({ content: "x" }, { code: 1 })]) {
    const texts = await read({
      "/a": () => Promise.resolve(response),
      "/b": () => Promise.resolve(content("b")),
    });
    assertEquals(Array.from(texts), [["file:///b", "b"]]);
  }
});

Deno.test("readAttachedFiles() says that a file contains NUL in place of its text", async () => {
  const texts = await read({
    "/a": () => Promise.resolve(content("a\0b")),
    "/b": () => Promise.resolve(content("b")),
  });
  assertEquals(Array.from(texts), [
    ["file:///a", "(not read: contains a NUL character)"],
    ["file:///b", "b"],
  ]);
});

Deno.test("readAttachedFiles() takes a file of 1 MiB, and of a larger one nothing but a line that says so", async () => {
  const euro = "€".repeat(349_525); // 1 byte less than 1 MiB
  const files = ["x".repeat(MIB), euro, `${euro}€`];
  const texts = await read(Object.fromEntries(
    files.map((text, i) => [`/${i}`, () => Promise.resolve(content(text))]),
  ));

  const line = "(not read: larger than 1 MiB)";
  const [whole, euros, large] = texts.values();
  assert(whole === files[0] && euros === euro && large === line);
});

Deno.test("readAttachedFiles() takes 4 MiB of a prompt, in the order of the links, however they arrive", async () => {
  const sizes = [MIB, MIB, 1, MIB, MIB - 1, 1, 0, 5];
  const answers = sizes.map(() => Promise.withResolvers<RpcResponse>());
  const reading = read(Object.fromEntries(
    answers.map(({ promise }, i) => [`/${i}`, () => promise]),
  ));

  for (const i of [7, 4, 5, 2, 0, 6, 3, 1]) {
    answers[i]?.resolve(content("x".repeat(sizes[i] ?? 0)));
  }

  const texts = Array.from((await reading).values());
  const tooMany = "(not read: the files of this prompt are larger than 4 MiB)";
  assertEquals(
    texts.map((text) => text[0] === "(" ? text : text.length),
    [...[MIB, MIB, 1, MIB, MIB - 1], tooMany, 0, tooMany],
  );
});

Deno.test("readAttachedFiles() drops a file after one that does not fit in 4 MiB, even if it arrives later and would fit", async () => {
  const sizes = [MIB, MIB, MIB, 900_000, 500_000, 50_000];
  for (
    const order of [[0, 1, 2, 3, 5, 4], [4, 5, 3, 2, 1, 0], [0, 1, 2, 3, 4, 5]]
  ) {
    const answers = sizes.map(() => Promise.withResolvers<RpcResponse>());
    const reading = read(Object.fromEntries(
      answers.map(({ promise }, i) => [`/${i}`, () => promise]),
    ));

    for (const i of order) {
      answers[i]?.resolve(content("x".repeat(sizes[i] ?? 0)));
      await setImmediate();
    }

    const lengths = Array.from(
      (await reading).values(),
      (text) => text[0] === "x" ? text.length : 0,
    );
    assertEquals(lengths, [MIB, MIB, MIB, 900_000, 0, 0], `${order}`);
  }
});

Deno.test("readAttachedFiles() asks for no more than 1,000 files", async () => {
  let asked = 0;
  const uris = Array.from({ length: 5000 }, (_, i) => `file:///${i}`);

  const texts = await readAttachedFiles(uris, {
    ask: () => Promise.resolve(content(`${asked++}`)),
    signal: NEVER,
  });

  assertEquals([asked, texts.size], [1000, 1000]);
});

/** An answer that never arrives. */
function noAnswer(_path: string, signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined));
  });
}

Deno.test("readAttachedFiles() continues after 10 s with the files read so far", async () => {
  using clock = new FakeClock();
  const reading = readAttachedFiles(["file:///a", "file:///b"], {
    ask: (path, signal) =>
      path === "/a" ? Promise.resolve(content("a")) : noAnswer(path, signal),
    signal: NEVER,
  });

  clock.pass();

  assertEquals(clock.time, 10_000);
  assertEquals(Array.from(await reading), [["file:///a", "a"]]);
});

Deno.test("readAttachedFiles() ends at once when it is aborted", async () => {
  using _clock = new FakeClock(); // else it would end after 10 s
  const controller = new AbortController();
  const options = { ask: noAnswer, signal: controller.signal };
  const reading = readAttachedFiles(["file:///a"], options);

  controller.abort();

  assertEquals((await reading).size, 0);
  assertEquals((await readAttachedFiles(["file:///a"], options)).size, 0);
});
