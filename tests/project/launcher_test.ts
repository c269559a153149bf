import { assert, assertEquals } from "@std/assert";
import { parse } from "../../tools/npm/dotenv_parse.ts";
import standIns from "../../tools/npm/import_map.json" with { type: "json" };
import { unicodeWidth } from "../../tools/npm/unicode_width.ts";
import { Folder } from "../support/environment.ts";
import { unreachable } from "../support/faulty_service/service.ts";
import { startJsrRegistry } from "../support/jsr_registry.ts";
import { programOutput } from "../support/program_output.ts";
import { soon } from "../support/waits.ts";

// The launcher, and the packages of npm that it puts in the place of those of JSR.

const ROOT = `${import.meta.dirname}/../..`;
const LAUNCHER = [
  ...[Deno.execPath(), "run", "-q", "-P=launcher"],
  `${ROOT}/tools/deno.ts`,
];

/** A URL from which Deno runs the source. */
function program(source: string): string {
  return `data:application/typescript,${encodeURIComponent(source)}`;
}

Deno.test("the launcher uses JSR without a word if it answers, npm if not, tells what it starts, and fails with a sentence without both", async () => {
  await using jsr = await startJsrRegistry();
  using cache = new Folder();
  const gone = unreachable();
  const alone = { DENO_DIR: cache.path, NPM_CONFIG_REGISTRY: gone };
  const tells = program(`console.log(Deno.env.get("STANDARD_LIBRARY"));`);
  for (
    const [JSR_URL, env, ...expected] of [
      [jsr.url, alone, 0, "jsr\n", ""],
      [
        ...[gone, {}, 0, "npm\n"],
        "Cannot reach jsr.io: using the same standard library from npm instead\n",
      ],
      [jsr.url, { STANDARD_LIBRARY: "npm" }, 0, "npm\n", ""], // it does not look again
      [
        ...[gone, alone, 1, ""],
        "Cannot get the standard library: neither JSR nor npm can be reached; " +
        "connect to either of them once, after that no network is needed\n",
      ],
    ] as const
  ) {
    const command = [...LAUNCHER, "run", "-q", "--allow-env", tells];
    const { code, stdout, stderr } = await programOutput(command, {
      env: { STANDARD_LIBRARY: "", ...env, JSR_URL },
    });
    assertEquals([code, stdout, stderr], expected);
  }
});

const waits = 'setInterval(() => {}, 1000); console.log("ready");';
const listens = (signal: string) =>
  `Deno.addSignalListener("${signal}", () => Deno.exit(9)); ${waits}`;
Deno.test({
  name: "the launcher passes signals on, and exits with the child's code",
  ignore: Deno.build.os === "windows",
  async fn() {
    const [deno = "", ...args] = LAUNCHER;
    for (
      const [signal, source, expected] of [
        ["SIGINT", listens("SIGINT"), 9],
        ["SIGHUP", listens("SIGHUP"), 9],
        ["SIGTERM", waits, 143],
      ] as const
    ) {
      const child = new Deno.Command(deno, {
        args: [...args, "run", "-q", program(source)],
        env: { STANDARD_LIBRARY: "npm" },
        stdout: "piped",
      }).spawn();
      const output = child.stdout.getReader();
      await soon(output.read(), () => "a child that is ready");
      child.kill(signal);
      const { code } = await soon(child.status, () => `the end by ${signal}`);
      assertEquals(code, expected, signal);
      await output.cancel();
    }
  },
});

/** What @std/dotenv 0.225.6 reads from an assignment to A. */
const DOTENV = {
  "A=": "",
  "A=\tb c ": "b c",
  "A=b\\nc": "b\\nc",
  "A=' b\"\\nc '": ' b"\\nc ',
  'A="b\\nc\\\\d\\x"': "b\nc\\\\d\\x",
};

/** Characters by the columns that they take for @std/cli 1.0.32. */
const WIDTHS = [
  "\x7f\u0300\u1160\u{e0100}", // a mark, and what joins what is before it
  "\u00ad\u0903｡\u{1f1e6}", // a mark with a place of its own, half of a flag
  "\u1100あ😀",
];

Deno.test("the stand-ins from npm answer what the packages of JSR have answered", () => {
  for (const [text, value] of Object.entries(DOTENV)) {
    assertEquals(Object.entries(parse(text)), [["A", value]]);
  }
  for (const [width, characters] of WIDTHS.entries()) {
    for (const character of characters) {
      assertEquals(unicodeWidth(character), width, JSON.stringify(character));
    }
  }
});

Deno.test("JSR and npm give the project the same packages", async () => {
  const read = (path: string) => Deno.readTextFile(`${ROOT}/${path}`);
  const lock = JSON.parse(await read("deno.lock"));
  const { npm } = JSON.parse(await read("tools/npm/deno.lock"));
  assertEquals(npm, lock.npm);

  const loaded = await read("tools/standard_library.ts");
  for (const [specifier, path] of Object.entries(standIns.imports)) {
    assert(loaded.includes(`import "${specifier}";`), specifier);
    if (specifier === "@std/testing/bdd") continue; // It is node:test.
    const text = await read(`tools/npm/${path}`);
    const [, name, version] = text.match(/(@std\/\w+)`? (\d+\.\d+\.\d+)/) ?? [];
    assert(specifier.replace(/^jsr:/, "").startsWith(name ?? "-"), path);
    assert(`${name}@${version}` in lock.jsr, `${path} is of ${version}`);
  }
});
