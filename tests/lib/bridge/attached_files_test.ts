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

const PATHS = String.raw`
file:///home/me/notes.md => /home/me/notes.md
FILE:///a => /a
file:/a => /a
file://localhost/a => /a
file://LOCALHOST/a => /a
file:///a%20b%C3%BC => /a bü
file:///a b => /a b
file:///ü => /ü
file:///a.ts#L1-L2 => /a.ts
file:///a/../b => /b
file:///C:/Users/me/a.ts => C:\Users\me\a.ts
file:///c%3A/Users/me/a.ts => c:\Users\me\a.ts
file:///C:%5CUsers%5Cme%5Ca.ts => C:\Users\me\a.ts
`;
const OTHER_HOSTS = String.raw`
file://host/a file://127.0.0.1/a file:////host/a file:/\host/a file:\\host\a
file://wsl.localhost/Debian/a.ts file://///host/a file:///%5C%5Chost/a
file:///%5Chost/a`;
const NO_PATHS =
  "file:a file: file:///a%2Fb file:///a%00b file:///%ff file:///% https://host/a /home/me/a a.md";
Deno.test("filePath() is the path of a file on the client's machine", () => {
  for (const row of PATHS.trim().split("\n")) {
    const [uri = "", path] = row.split(" => ");
    assertEquals(filePath(uri), path, uri);
  }
  const others = `${OTHER_HOSTS} ${NO_PATHS}`.trim().split(/\s+/);
  for (const uri of [...others, "", "file:///a\nb", " file:///a"]) {
    assertEquals(filePath(uri), undefined, uri);
  }
});

/** A response of the client. */
function answer(result: unknown): RpcResponse {
  return { kind: "response", id: 1, result };
}

/** A response with a file. */
const content = (text: unknown) => answer({ content: text });

/** Reads the files `/0`, `/1` and so on from a client with these responses. */
async function read(
  responses: readonly (RpcResponse | undefined)[],
): Promise<readonly (readonly [string, string])[]> {
  const uris = responses.map((_, i) => `file:///${i}`);
  const texts = await readAttachedFiles(uris, {
    ask: (path) => Promise.resolve(responses[Number(path.slice(1))]),
    signal: NEVER,
  });
  return [...texts];
}

Deno.test("readAttachedFiles() asks for one file after the other, and for each one once", async () => {
  const log: string[] = [];
  const uris = ["file:///a", "https://host/b", "file:///a", "file:///%63"];
  const texts = await readAttachedFiles(uris, {
    ask: async (path) => {
      log.push(`asked for ${path}`);
      await setImmediate();
      log.push(`got ${path}`);
      return content(`text of ${path}`);
    },
    signal: NEVER,
  });

  assertEquals(log, ["asked for /a", "got /a", "asked for /c", "got /c"]);
  assertEquals(
    [...texts],
    [["file:///a", "text of /a"], ["file:///%63", "text of /c"]],
  );
});

Deno.test("readAttachedFiles() leaves out a file for which it gets nothing, or no text", async () => {
  const texts = await read([
    ...[undefined, answer({}), answer(null), content(["x"]), content("a\0b")],
    content(""),
  ]);
  assertEquals(texts, [["file:///5", ""]]);
});

Deno.test("readAttachedFiles() takes whole files of up to 1 MiB of UTF-8 that fit into what is left of 4 MiB, and says so of others", async () => {
  const large = "(not read: larger than 1 MiB)";
  const tooMany = "(not read: the files of this prompt are larger than 4 MiB)";
  const euro = "€".repeat(349_525); // 1 byte less than 1 MiB
  const whole = "x".repeat(MIB);
  const rows = [
    [content(whole), whole],
    [content(euro), euro],
    [content(`${euro}€`), large],
    [{ ...answer(undefined), fault: "too long" }, large],
    [{ ...answer(undefined), fault: "too many parts" }, large],
    [{ ...answer(undefined), fault: "not UTF-8" }, "(not read: not UTF-8)"],
    [content(whole), whole],
    [content(whole.slice(100)), whole.slice(100)],
    [content(whole), tooMany],
    [content("y".repeat(10)), "y".repeat(10)],
  ] as const;
  const texts = await read(rows.map(([response]) => response));
  for (const [index, [, expected]] of rows.entries()) {
    assert(texts[index]?.[1] === expected, `${index}`); // not shown: 1 MiB
  }
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

  clock.elapse(10_000);

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
