import { assert, assertEquals } from "@std/assert";
import { parse } from "../../tools/npm/dotenv_parse.ts";
import standIns from "../../tools/npm/import_map.json" with { type: "json" };
import { unicodeWidth } from "../../tools/npm/unicode_width.ts";
import { unreachable } from "../support/faulty_service/service.ts";
import { programOutput } from "../support/program_output.ts";
import { soon } from "../support/waits.ts";

// The launcher, and the packages of npm that it puts in the place of those of JSR.

const ROOT = `${import.meta.dirname}/../..`;
const STAND_IN_LINE =
  "Cannot reach jsr.io: using the same standard library from npm instead\n";
const LAUNCHER = [
  ...[Deno.execPath(), "run", "-q", "-P=launcher"],
  `${ROOT}/tools/deno.ts`,
];

/** Runs a launcher that has to choose the source of the standard library itself. */
function launch(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
) {
  const options = { env: { STANDARD_LIBRARY: "", ...env } };
  return programOutput([...LAUNCHER, ...args], options);
}

/** A URL from which Deno runs the source. */
function program(source: string): string {
  return `data:application/typescript,${encodeURIComponent(source)}`;
}

Deno.test("the launcher uses JSR without a word if it answers, and npm if not, and tells what it starts", async () => {
  // A JSR that only answers that it is reachable.
  await using jsr = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    ({ url }) =>
      new Response("{}", {
        status: new URL(url).pathname === "/@std/assert/meta.json" ? 200 : 404,
      }),
  );
  const answering = `http://127.0.0.1:${jsr.addr.port}/`;
  const tells = program(`console.log(Deno.env.get("STANDARD_LIBRARY"));`);
  for (
    const [JSR_URL, STANDARD_LIBRARY, ...expected] of [
      [answering, "", "jsr\n", ""],
      [unreachable(), "", "npm\n", STAND_IN_LINE],
      [answering, "npm", "npm\n", ""], // chosen: it does not look again
    ] as const
  ) {
    const env = { JSR_URL, STANDARD_LIBRARY };
    const args = ["run", "-q", "--allow-env", tells];
    const { stdout, stderr } = await launch(args, env);
    assertEquals([stdout, stderr], expected);
  }
});

Deno.test("the launcher fails with a sentence if neither JSR nor npm can be reached", async () => {
  const DENO_DIR = await Deno.makeTempDir();
  const env = {
    DENO_DIR,
    JSR_URL: unreachable(),
    NPM_CONFIG_REGISTRY: unreachable(),
  };

  const { code, stdout, stderr } = await launch(["run", "x.ts"], env);
  await Deno.remove(DENO_DIR, { recursive: true });

  assertEquals([code, stdout, stderr], [
    1,
    "",
    "Cannot get the standard library: neither JSR nor npm can be reached; " +
    "connect to either of them once, after that no network is needed\n",
  ]);
});

const waits = 'setInterval(() => {}, 1000); console.log("ready");';
const listens = (signal: string) =>
  `Deno.addSignalListener("${signal}", () => Deno.exit(9)); ${waits}`;
for (
  const [signal, source, expected] of [
    ["SIGINT", listens("SIGINT"), 9],
    ["SIGHUP", listens("SIGHUP"), 9],
    ["SIGTERM", waits, 143],
  ] as const
) {
  Deno.test({
    name:
      `the launcher passes ${signal} on, and exits with the child's code ${expected}`,
    ignore: Deno.build.os === "windows",
    async fn() {
      const [deno = "", ...args] = LAUNCHER;
      const child = new Deno.Command(deno, {
        args: [...args, "run", "-q", program(source)],
        env: { STANDARD_LIBRARY: "npm" },
        stdout: "piped",
      }).spawn();
      const output = child.stdout.getReader();
      await soon(output.read(), () => "a child that is ready");
      child.kill(signal);
      const { code } = await soon(child.status, () => `the end by ${signal}`);
      assertEquals([code, (await output.read()).done], [expected, true]);
    },
  });
}

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
