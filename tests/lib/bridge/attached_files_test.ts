import { assert, assertEquals } from "@std/assert";
import {
  filePath,
  readAttachedFiles,
} from "../../../lib/bridge/attached_files.ts";
import type { Response } from "../../../lib/bridge/json_rpc.ts";

const MIB = 1024 * 1024;
const NEVER = new AbortController().signal;

const PATHS: readonly (readonly [uri: string, path: string | undefined])[] = [
  ["file:///home/me/notes.md", "/home/me/notes.md"],
  ["FILE:///a", "/a"],
  ["file:/a", "/a"],
  ["file://localhost/a", "/a"],
  ["file://LOCALHOST/a", "/a"],
  ["file:///a%20b%C3%BC", "/a bü"],
  ["file:///a b", "/a b"],
  ["file:///ü", "/ü"],
  ["file:///a.ts#L1-L2", "/a.ts"],
  ["file:///a/../b", "/b"],
  ["file:///C:/Users/me/a.ts", "C:\\Users\\me\\a.ts"],
  ["file:///c%3A/Users/me/a.ts", "c:\\Users\\me\\a.ts"],
  // Another host, in every spelling
  ["file://host/a", undefined],
  ["file://127.0.0.1/a", undefined],
  ["file:////host/a", undefined],
  ["file://///host/a", undefined],
  ["file:///%5C%5Chost/a", undefined],
  ["file:///%5Chost/a", undefined],
  ["file:\\\\host\\a", undefined],
  ["file:/\\host/a", undefined],
  // Not the path of a file
  ["file:a", undefined],
  ["file:", undefined],
  ["file:///a%2Fb", undefined],
  ["file:///a%00b", undefined],
  ["file:///%ff", undefined],
  ["file:///%", undefined],
  ["file:///a\nb", undefined],
  [" file:///a", undefined],
  ["https://host/a", undefined],
  ["/home/me/notes.md", undefined],
  ["notes.md", undefined],
  ["", undefined],
];
for (const [uri, path] of PATHS) {
  Deno.test(`filePath() of ${JSON.stringify(uri)} is ${JSON.stringify(path)}`, () => {
    assertEquals(filePath(uri), path);
  });
}

/** A response that holds a file. */
function content(text: unknown): Response {
  return {
    kind: "response",
    id: 1,
    result: { content: text },
    error: undefined,
  };
}

/** Reads files from an editor that answers by these functions. */
function read(
  files: Readonly<Record<string, () => Promise<Response | undefined>>>,
): Promise<ReadonlyMap<string, string>> {
  return readAttachedFiles(Object.keys(files).map((path) => `file://${path}`), {
    ask: (path) => files[path]?.() ?? Promise.resolve(undefined),
    signal: NEVER,
  });
}

Deno.test("readAttachedFiles() asks for all files at once, and for each one once", async () => {
  const asked: string[] = [];
  const all = Promise.withResolvers<void>();

  const texts = await readAttachedFiles([
    "file:///a",
    "https://host/b",
    "file://localhost/a",
    "file:///c",
    "file:///%63",
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

const UNREADABLE: Readonly<Record<string, Response | undefined>> = {
  "an error": {
    kind: "response",
    id: 1,
    result: undefined,
    error: { code: 1 },
  },
  "an error and a result": { ...content("x"), error: { code: 1 } },
  "no answer": undefined,
  "a result without content": {
    kind: "response",
    id: 1,
    result: {},
    error: undefined,
  },
  "null": { kind: "response", id: 1, result: null, error: undefined },
  "a string": { kind: "response", id: 1, result: "x", error: undefined },
  "content that is no string": content(["x"]),
};
for (const [name, response] of Object.entries(UNREADABLE)) {
  Deno.test(`readAttachedFiles() leaves out a file for which it gets ${name}`, async () => {
    const texts = await read({
      "/a": () => Promise.resolve(response),
      "/b": () => Promise.resolve(content("b")),
    });

    assertEquals(Array.from(texts), [["file:///b", "b"]]);
  });
}

Deno.test("readAttachedFiles() takes 1 MiB of a file, whole characters, and says how much is left out", async () => {
  const euro = "€".repeat(349_525); // 1 byte less than 1 MiB
  const texts = await read({
    "/whole": () => Promise.resolve(content("x".repeat(MIB))),
    "/ü": () => Promise.resolve(content(`${euro}€`)),
    "/lines": () =>
      Promise.resolve(content("12345678901234\r\n".repeat(MIB / 4))),
  });

  assertEquals(
    Array.from(texts.values(), (text) => text.slice(-100).split("\n").at(-1)),
    [
      "x".repeat(100),
      "[3 more bytes were left out]",
      "[3145726 more bytes were left out]",
    ],
  );
  const [whole, cut, lines] = texts.values();
  assertEquals(whole?.length, MIB);
  assertEquals(cut?.split("\n")[0], euro);
  assert(lines?.endsWith("1234\n[3145726 more bytes were left out]"));
});

Deno.test("readAttachedFiles() takes 4 MiB of a prompt, in the order of the links, however they arrive", async () => {
  const answers = new Map<string, PromiseWithResolvers<Response>>();
  const sizes = [MIB, MIB, 1, MIB, MIB - 1, 1, 0, 5];
  const uris = sizes.map((_, i) => `file:///${i}`);
  const reading = readAttachedFiles(uris, {
    ask: (path) => {
      const answer = Promise.withResolvers<Response>();
      answers.set(path, answer);
      return answer.promise;
    },
    signal: NEVER,
  });

  for (const i of [7, 4, 5, 2, 0, 6, 3, 1]) {
    answers.get(`/${i}`)?.resolve(content("x".repeat(sizes[i] ?? 0)));
  }

  assertEquals(
    Array.from(await reading, ([uri, text]) => [uri, text.length]),
    [0, 1, 2, 3, 4].map((i) => [`file:///${i}`, sizes[i]]),
  );
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

/** Replaces `setTimeout()` until it is disposed of; the test fires the timer. */
class FakeTimer implements Disposable {
  readonly #setTimeout = globalThis.setTimeout;
  /** The delay in milliseconds, if a timer was started. */
  delay: number | undefined;
  fire: () => void = () => {};

  constructor() {
    const fake = (callback: () => void, delay?: number) => {
      this.delay = delay;
      this.fire = callback;
      return 0;
    };
    globalThis.setTimeout = fake as unknown as typeof setTimeout;
  }

  [Symbol.dispose](): void {
    globalThis.setTimeout = this.#setTimeout;
  }
}

/** An answer that never arrives. */
function noAnswer(_path: string, signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined));
  });
}

Deno.test("readAttachedFiles() continues after 10 s with the files read so far", async () => {
  using timer = new FakeTimer();
  const reading = readAttachedFiles(["file:///a", "file:///b"], {
    ask: (path, signal) =>
      path === "/a" ? Promise.resolve(content("a")) : noAnswer(path, signal),
    signal: NEVER,
  });

  timer.fire();

  assertEquals(timer.delay, 10_000);
  assertEquals(Array.from(await reading), [["file:///a", "a"]]);
});

Deno.test("readAttachedFiles() ends at once when it is aborted, and leaves no timer", async () => {
  const controller = new AbortController();
  const options = { ask: noAnswer, signal: controller.signal };
  const reading = readAttachedFiles(["file:///a"], options);

  controller.abort();

  assertEquals((await reading).size, 0);
  assertEquals((await readAttachedFiles(["file:///a"], options)).size, 0);
});
