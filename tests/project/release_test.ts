import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { basename, dirname } from "node:path";
import { parse } from "yaml";
import config from "../../deno.json" with { type: "json" };
import registry from "../../docs/registry/agent.json" with { type: "json" };
import { RELEASE_HEADER } from "../../tools/bundle.ts";
import {
  parseSums,
  sha256,
  type Sums,
  writeChecksums,
} from "../../tools/checksums.ts";
import { binaryName, TARGETS } from "../../tools/compile.ts";
import {
  commitIn,
  newestOfAll,
  PINNED_COMMIT,
  PINNED_DENO,
} from "../../tools/pins.ts";
import { makeSbom } from "../../tools/release/sbom.ts";
import {
  checkToolchain,
  ESBUILD,
  pinnedSums,
  RUNTIMES,
} from "../../tools/release/toolchain.ts";
import { runCommand } from "../../tools/run_command.ts";
import { Folder } from "../support/environment.ts";
import { type Files, writeFiles } from "../support/files.ts";
import { isInstalled } from "../support/fronts.ts";
import { programOutput } from "../support/program_output.ts";
import { keyRows } from "../support/scripts.ts";
import { SourceCopy } from "../support/source_copy.ts";
import { rowsOf } from "../support/tables.ts";

// A release as the workflow makes it.

const ROOT = `${import.meta.dirname}/../..`;
const { version } = config;
const NPM = `agent-gateway-${version}.tgz`;
const DEB = `agent-gateway_${version}-1_amd64.deb`;
const OTHER_DEB = DEB.replace("amd64", "arm64");
const BINARIES = TARGETS.map(binaryName);
const [FIRST = ""] = BINARIES;

/** The steps of the job that makes packages. */
const STEPS: readonly { readonly run?: string }[] = parse(
  await Deno.readTextFile(`${ROOT}/.github/workflows/release.yml`),
).jobs.packages.steps;

Deno.test("the release notes are those of the version in deno.json, and of no other tag", async () => {
  const notesOf = (tag: string) =>
    programOutput([
      ...[Deno.execPath(), "run", "-q", "--no-prompt"],
      ...["--allow-read=CHANGELOG.md,docs/install.md"],
      ...["tools/release_notes.ts", tag],
    ], { cwd: ROOT });

  const { code, stdout, stderr } = await notesOf(`v${version}`);
  assertEquals([code, stderr], [0, ""]);
  assertMatch(stdout, /^\S[^]*\n\n## Systems\n\n- \*\*Linux/);
  assertEquals(stdout.match(/^## /gm)?.length, 1);
  for (const tag of [version, `v${version}.1`, "v"]) {
    const { code, stdout, stderr } = await notesOf(tag);
    assertEquals([code, stdout], [1, ""]);
    assertStringIncludes(stderr, `The tag is ${tag}, but deno.json has `);
  }
});

Deno.test("the entry of the ACP registry names each binary of this version", () => {
  const releases =
    "https://github.com/agent-gateway/agent-gateway/releases/download";
  const archives = Object.values(registry.distribution.binary)
    .map(({ archive }) => archive);
  assertEquals(
    archives.sort(),
    BINARIES.map((name) => `${releases}/v${version}/${name}`).sort(),
  );
});

/** A bundle that prints something for everything that packages ask it for. */
const STAND_IN =
  `// agent-gateway\n${RELEASE_HEADER}\nconsole.log("agent-gateway 1.2.3: it\\n\\n" + Deno.args);\n`;

/** What the jobs before "packages" have made. */
const MADE: Files = {
  ...Object.fromEntries(
    BINARIES.map((name) => [`received/binaries/${name}`, name]),
  ),
  "received/binaries/agent-gateway.js": STAND_IN,
  "received/third-party/THIRD-PARTY.md": "third parties\n",
  "received/third-party/crates.txt": "",
};

/** What "packages" adds to it, and publishes. */
const RELEASED = [
  ...["SHA256SUMS", "LICENSE", "THIRD-PARTY.md", "agent-gateway.cdx.json"],
  ...["agent-gateway.js", "install.sh", "install.ps1", NPM, DEB, OTHER_DEB],
  ...BINARIES.flatMap((name) => [name, `${name}.gz`]),
];

/**
 * Hands over what jobs have made, and runs the commands of the job "packages". Returns
 * what they write to standard error if they fail.
 *
 * @param made Differs from what the jobs should make.
 * @param changed Was changed after the sums were written.
 */
async function makePackages(
  { folder }: SourceCopy,
  { made = {}, changed = {} }: {
    readonly made?: Files;
    readonly changed?: Files;
  } = {},
): Promise<string> {
  for (const name of ["received", "dist"]) {
    await Deno.remove(`${folder}/${name}`, { recursive: true }).catch(() => {});
  }
  await writeFiles(folder, { ...MADE, ...made });
  await writeChecksums(`${folder}/received/binaries`);
  await writeFiles(folder, { "received/good": FIRST, ...changed });
  const commands = STEPS.flatMap(({ run }) => run ?? []);
  assertEquals(commands.length, 4);
  const PATH = `${dirname(Deno.execPath())}:${Deno.env.get("PATH")}`;
  const { code, stderr } = await programOutput(
    ["bash", "-ec", commands.join("\n")],
    { cwd: folder, env: { PATH, NO_COLOR: "1", STANDARD_LIBRARY: "jsr" } },
  );
  return code === 0 ? "" : stderr;
}

/**
 * Files that differ: already when the job writes its sums ("made"), or afterwards; and
 * why they are refused. "none" is no file.
 */
const REFUSED = rowsOf<"when" | "path" | "text" | "why">(`
when    | path                             | text            | why
changed | received/binaries/${FIRST}       | worse           | ${FIRST} has the SHA-256 sum
changed | received/binaries/${FIRST}       | none            | SHA256SUMS names ${FIRST}, which is missing
changed | received/binaries/${FIRST}       | -> ../good      | ${FIRST} in received/binaries is not a file
changed | received/binaries/more           |                 | binaries brings more, which nobody asked for
changed | received/third-party/${NPM}      |                 | third-party brings ${NPM}, which nobody asked for
changed | received/third-party/${FIRST}    | worse           | third-party brings ${FIRST}, which nobody asked for
changed | received/third-party/SHA256SUMS  |                 | third-party brings SHA256SUMS, which nobody asked for
changed | received/third-party/crates.txt  | none            | third-party lacks crates.txt
changed | received/third-party/crates.txt  | -> /etc/passwd  | crates.txt in received/third-party is not a file
changed | received/third-party/crates.txt  | -> THIRD-PARTY.md | crates.txt in received/third-party is not a file
changed | dist/THIRD-PARTY.md              | worse           | brings THIRD-PARTY.md, which
changed | dist/more                        |                 | dist/more is not part of a release
made    | received/binaries/agent-gateway.js | // worse      | the standard library of dist/agent-gateway.js is not from JSR
made    | received/binaries/more           |                 | has [more]
made    | received/binaries/${FIRST}       | none            | dist/SHA256SUMS lacks [${FIRST}]
`);

const LINUX = "unknown-linux-gnu";
const CONTENTS = `dpkg-deb --contents ${DEB} | awk`;

/** Commands in a release that print the same. */
const SAME = keyRows(String.raw`
tar -tzf ${NPM} | sort  python3 -c 'import sys, tarfile; print(*tarfile.open(sys.argv[1]).getnames(), sep="\n")' ${NPM} | sort
tar -tzf ${NPM} | sort  npm pack --dry-run --json ./${NPM} | jq -r '.[].files[] | "package/" + .path' | sort
tar -tzf ${NPM} | wc -l  echo 8
tar -xzOf ${NPM} package/agent-gateway.js  cat agent-gateway.js
dpkg-deb --fsys-tarfile ${DEB} | tar -xO ./usr/bin/agent-gateway  cat agent-gateway-x86_64-${LINUX}
dpkg-deb --fsys-tarfile ${OTHER_DEB} | tar -xO ./usr/bin/agent-gateway  cat agent-gateway-aarch64-${LINUX}
gzip -dc agent-gateway-x86_64-${LINUX}.gz  cat agent-gateway-x86_64-${LINUX}
ar t ${DEB}  printf 'debian-binary\ncontrol.tar.gz\ndata.tar.gz\n'
${CONTENTS} '{ print $2 }' | sort -u  echo root/root
${CONTENTS} '/\/$/ { print $1 }' | sort -u  echo drwxr-xr-x
${CONTENTS} '!/\/$/ && $1 != "-rw-r--r--" { print $1, $6 }'  echo -rwxr-xr-x ./usr/bin/agent-gateway
`);

Deno.test({
  name:
    "a release takes named files with their sums, and writes all else itself",
  ignore: Deno.build.target !== "x86_64-unknown-linux-gnu" || // as the workflow is
    Deno.version.deno !== PINNED_DENO,
  async fn(t) {
    await using copy = await SourceCopy.make();
    await copy.commit();
    const dist = `${copy.folder}/dist`;
    const readSums = () => Deno.readTextFile(`${dist}/SHA256SUMS`);
    const list = async (...command: readonly string[]) =>
      (await runCommand(command, { cwd: dist })).trim().split("\n").sort();
    assertEquals(await makePackages(copy), "");
    const sums = await readSums();

    await t.step("and nothing but what it names", async () => {
      assertEquals(await list("ls"), RELEASED.toSorted());
      assertEquals(
        [...parseSums(sums).keys(), "SHA256SUMS"].sort(),
        RELEASED.toSorted(),
      );
    });

    await t.step({
      name: "in which all readers see the same files",
      ignore: !["npm", "jq", "python3", "ar", "dpkg-deb"].every(isInstalled),
      async fn() {
        for (const [command, other] of SAME) {
          const script = `diff <(${command}) <(${other}) >&2`;
          await runCommand(["bash", "-c", script], { cwd: dist });
        }
      },
    });

    await t.step("but nothing that a job has changed", async () => {
      for (const { when, path, text, why } of REFUSED) {
        const files = { [path]: text };
        assertStringIncludes(await makePackages(copy, { [when]: files }), why);
        const written = await readSums().catch(() => "");
        assert(!written.includes(NPM), `summed in spite of: ${why}`);
      }
    });

    await t.step("and writes each archive itself", async () => {
      const names = [NPM, DEB, OTHER_DEB, `${FIRST}.gz`, "install.sh"];
      const worse = names.map((name) => [`dist/${name}`, "worse"]);
      const changed = Object.fromEntries(worse);
      assertEquals(await makePackages(copy, { changed }), "");
      assertEquals(await readSums(), sums);
    });
  },
});

const SUM = "1".repeat(64);

Deno.test("the SBOM names what is in the program, and what made it", async () => {
  const lock = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.lock`));
  const sbom = makeSbom({
    lock,
    thirdParty: await Deno.readTextFile(`${ROOT}/THIRD-PARTY.md`),
    crates: `old-crate 1.2.3|MIT/Apache-2.0|${SUM}\nother 1.0.0|MIT\n`,
    sums: new Map([[ESBUILD.name, SUM]]),
    timestamp: "2026-11-24T03:21:04Z",
  });
  const { component, timestamp } = sbom.metadata;
  const about = `${timestamp} ${component.purl}`;
  assertEquals(about, `2026-11-24T03:21:04Z pkg:npm/agent-gateway@${version}`);
  const parts = sbom.components
    .map(({ purl, licenses }) => `${purl} ${licenses[0].expression}\n`).join(
      "",
    );
  for (
    const part of [
      /^pkg:jsr\/%40std\/cli@[\d.]+ MIT$/m,
      /^pkg:jsr\/%40std\/dotenv@[\d.]+ MIT$/m,
      /^pkg:jsr\/%40std\/streams@[\d.]+ MIT$/m,
      RegExp(`^pkg:github/denoland/deno@v${PINNED_DENO} MIT$`, "m"),
      /^pkg:github\/unicode-org\/icu Unicode-3.0$/m,
      RegExp(`^pkg:npm/%40esbuild/linux-x64@${ESBUILD.version} MIT$`, "m"),
    ]
  ) assertMatch(parts, part);
  const purl = "pkg:cargo/old-crate@1.2.3";
  assertEquals(
    sbom.components.find(({ name }) => name === "old-crate"),
    {
      ...{ type: "library", "bom-ref": purl, name: "old-crate", purl },
      licenses: [{ expression: "MIT OR Apache-2.0" }],
      supplier: { name: "The authors of old-crate" },
      version: "1.2.3",
      hashes: [{ alg: "SHA-256", content: SUM }],
    },
  );
  // What is not known is left out, and what only tests need.
  assertNotMatch(
    JSON.stringify(sbom),
    /not known|undefined|null|""|\[\]|\{\}|@std\/assert/,
  );
});

Deno.test({
  name: ".ci/third-party lists crates, and the text of each license once",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using copy = await SourceCopy.make();
    const cargo = `#!/bin/sh
case $1 in
  tree)
    echo 'denort v9.9.9 (/deno/cli/rt)|MIT'
    echo 'one v1.0.0|MIT/Apache-2.0'
    echo 'two v2.0.0+sys.3 (proc-macro)|ISC (*)' ;;
  vendor)
    mkdir -p "$4/one-1.0.0/src" "$4/two-2.0.0+sys.3"
    echo '{"files":{},"package":"${SUM}"}' >"$4/one-1.0.0/.cargo-checksum.json"
    echo 'The same text' | tee "$4/one-1.0.0/LICENSE-MIT" >"$4/two-2.0.0+sys.3/COPYING"
    echo 'Another text' >"$4/one-1.0.0/src/license.txt" ;;
esac
`;
    await writeFiles(copy.folder, { cargo });
    const PATH = `${copy.folder}:${Deno.env.get("PATH")}`;
    const script = `${copy.folder}/.ci/third-party`;
    await runCommand([script, copy.folder], { env: { PATH } });

    const dist = `${copy.folder}/dist`;
    assertEquals(
      await Deno.readTextFile(`${dist}/crates.txt`),
      `denort 9.9.9|MIT\none 1.0.0|MIT/Apache-2.0|${SUM}\ntwo 2.0.0+sys.3|ISC\n`,
    );
    const text = await Deno.readTextFile(`${dist}/THIRD-PARTY.md`);
    assertStringIncludes(text, "\n- two 2.0.0+sys.3: ISC\n");
    assertEquals(text.match(/(?<=^### |^~~~~~~text\n).*/gm), [
      ...["one-1.0.0/LICENSE-MIT, two-2.0.0+sys.3/COPYING", "The same text"],
      ...["one-1.0.0/src/license.txt", "Another text"],
    ]);
  },
});

Deno.test({
  name: "the pinned Deno and esbuild are those that run here",
  // Releases are made there.
  ignore: Deno.build.target !== "x86_64-unknown-linux-gnu" ||
    Deno.version.deno !== PINNED_DENO,
  async fn() {
    const sums = await pinnedSums();
    const deno = await Deno.readFile(Deno.execPath());
    assertEquals(sums.get("deno"), await sha256(deno));
    assertEquals(PINNED_COMMIT, commitIn(deno, PINNED_DENO));
    const info = [Deno.execPath(), "info", "--json", "--no-config"];
    const { denoDir } = JSON.parse(await runCommand(info));
    const path = `${denoDir}/dl/esbuild-${ESBUILD.version}-1/${ESBUILD.name}`;
    assertEquals(
      sums.get(ESBUILD.name),
      await sha256(await Deno.readFile(path)),
    );
  },
});

Deno.test("newestOfAll() takes the newest version that npm has for all systems for a week", () => {
  const now = new Date("2026-11-26T12:00:00Z");
  const newest = (...packages: readonly Readonly<Record<string, number>>[]) =>
    newestOfAll(
      packages.map((ages) =>
        Object.fromEntries(
          Object.entries(ages).map(([version, days]) => [
            version,
            new Date(now.getTime() - days * 86_400_000).toISOString(),
          ]),
        )
      ),
      now,
    );
  const all = {
    ...{ created: 900, modified: 1, "2.9.9": 60, "2.10.0": 30 },
    ...{ "2.11.0-rc.1": 20, "2.10.1": 8, "2.10.2": 6.9 },
  };
  const late = { "2.10.0": 29, "2.9.9": 59, "2.10.1": 6 };
  assertEquals(newest(all, all), "2.10.1");
  assertEquals(newest(all, late), "2.10.0");
  assertEquals(newest(all, late, { "2.9.9": 59 }), "2.9.9");
  assertThrows(() => newest(all, { "2.9.8": 70 }), Error, "no version");
});

Deno.test("checkToolchain() refuses what has another sum, no sum, or another version", async () => {
  using folder = new Folder();
  const esbuild = `esbuild-${ESBUILD.version}-1/${ESBUILD.name}`;
  const paths = RUNTIMES.map((n) => `release/v${Deno.version.deno}/${n}`);
  const sums = new Map<string, string>();
  for (const path of [esbuild, ...paths]) {
    await writeFiles(folder.path, { [`dl/${path}`]: path });
    const sum = await sha256(new TextEncoder().encode(path));
    sums.set(basename(path), sum);
  }
  const refuses = (sums: Sums, why: string) =>
    assertRejects(() => checkToolchain(folder.path, sums), Error, why);

  await checkToolchain(folder.path, sums);
  const [name = ""] = RUNTIMES;
  await refuses(new Map(sums).set(name, "0".repeat(64)), `${name} has the `);
  sums.delete(name);
  await refuses(sums, "none: the workflow Update records it for review");
  // As a program, it has the sums that are pinned.
  const { stderr } = await programOutput([
    ...[Deno.execPath(), "run", "-q", "-A", "tools/release/toolchain.ts"],
  ], { cwd: ROOT, env: { DENO_DIR: folder.path } });
  assertStringIncludes(stderr, `${ESBUILD.name} has the SHA-256 sum `);
  await Deno.mkdir(`${folder.path}/dl/esbuild-9.9.9-1`);
  await refuses(sums, "Deno bundles with esbuild-9.9.9-1 instead of ");
});
