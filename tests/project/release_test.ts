import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { dirname } from "node:path";
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
import { findObstacle, TOOLCHAIN } from "../support/deployment.ts";
import { isInstalled } from "../support/fronts.ts";
import { programOutput } from "../support/program_output.ts";
import { SourceCopy } from "../support/source_copy.ts";

// A release as the workflow makes it, for this system.

const ROOT = `${import.meta.dirname}/../..`;
const OBSTACLE = await findObstacle();
const BINARY = `agent-gateway-${Deno.build.target}`;
const DEB = `agent-gateway_${config.version}-1_amd64.deb`;

/** Builds bundle and binary in a clean copy of the sources, with a history. */
async function build(): Promise<SourceCopy> {
  const copy = await SourceCopy.make();
  const user = ["-c", "user.name=t", "-c", "user.email=t"];
  const git = ["git", "-C", copy.folder, ...user];
  await runCommand([...git, "init", "--quiet"]);
  await runCommand([...git, "add", "--all"]);
  await runCommand([...git, "commit", "--quiet", "--message=Release"]);
  const { code, stderr } = await copy.deno(
    ["task", "-q", "compile"],
    TOOLCHAIN,
  );
  assertEquals(code, 0, stderr);
  return copy;
}

Deno.test({
  name: OBSTACLE === undefined
    ? "a release"
    : `a release (skipped: ${OBSTACLE})`,
  ignore: OBSTACLE !== undefined || Deno.build.os !== "linux",
  async fn(t) {
    await using first = await build();
    const dist = `${first.folder}/dist`;
    const sums = await Deno.readTextFile(`${dist}/SHA256SUMS`);

    await t.step("is the same bytes when it is built again", async () => {
      await using second = await build();

      assertEquals(
        await Deno.readTextFile(`${second.folder}/dist/SHA256SUMS`),
        sums,
      );
      assertStringIncludes(sums, "  agent-gateway.js\n");
      assertStringIncludes(sums, `  ${BINARY}\n`);
    });

    await t.step({
      name: "has a Debian package in which lintian and mandoc find nothing",
      ignore: Deno.build.arch !== "x86_64" ||
        !["dpkg-deb", "help2man", "lintian", "mandoc"].every(isInstalled),
      async fn() {
        const { code, stderr } = await first.deno(["task", "-q", "deb"]);
        assertEquals(code, 0, stderr);

        const lint = ["lintian", "--allow-root", `${dist}/${DEB}`];
        assertEquals(await runCommand(lint), "");

        const folder = await Deno.makeTempDir();
        await runCommand(["dpkg-deb", "--extract", `${dist}/${DEB}`, folder]);
        const program = `${folder}/usr/bin/agent-gateway`;
        assertStringIncludes(
          await runCommand([program, "--version"]),
          `agent-gateway ${config.version} (`,
        );
        const manual = `${folder}/usr/share/man/man1/agent-gateway.1.gz`;
        const mandoc = ["mandoc", "-T", "lint", "-W", "warning", manual];
        assertEquals(await runCommand(mandoc), "");
        await Deno.remove(folder, { recursive: true });
      },
    });
  },
});

Deno.test("the release notes are those of the version in deno.json, and of no other tag", async () => {
  const notesOf = (tag: string) =>
    programOutput([
      ...[Deno.execPath(), "run", "-q", "--no-prompt"],
      ...["--allow-read=CHANGELOG.md,docs/install.md"],
      ...["tools/release_notes.ts", tag],
    ], { cwd: ROOT });
  const { version } = config;

  const { code, stdout, stderr } = await notesOf(`v${version}`);
  assertEquals([code, stderr], [0, ""]);
  assertMatch(stdout, /^\S[^]*\n\n## Systems\n\n\| System /);
  assertEquals(stdout.match(/^## /gm)?.length, 1);
  for (const tag of [version, `v${version}.1`, "v"]) {
    const { code, stdout, stderr } = await notesOf(tag);
    assertEquals([code, stdout], [1, ""]);
    assertStringIncludes(stderr, `The tag is ${tag}, but deno.json has `);
  }
});

/** The sums of a release with all binaries: each a digit, 64 times. */
const SUMS = parseSums(
  TARGETS.map((target, index) =>
    `${`${index}`.repeat(64)}  ${binaryName(target)}\n`
  ).join(""),
);

Deno.test("the entry of the ACP registry names each binary of this version", () => {
  const releases =
    "https://github.com/agent-gateway/agent-gateway/releases/download";
  const { binary } = registry.distribution;
  assertEquals(
    Object.values(binary).map(({ archive }) => archive).sort(),
    Array.from(SUMS.keys(), (name) => `${releases}/v${config.version}/${name}`)
      .sort(),
  );
});

/** A file of a release of stand-ins, by its name. */
const BINARIES = ["agent-gateway.js", ...SUMS.keys()];

/** Runs a tool of a release in a copy of the sources, and returns its error, if any. */
async function runTool(
  copy: SourceCopy,
  ...args: readonly string[]
): Promise<string> {
  const { stderr } = await copy.deno(["run", "-q", "-A", ...args]);
  return stderr;
}

/** Puts what a job has made into a folder, where the next one receives it. */
async function hand(
  copy: SourceCopy,
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const path = `${copy.folder}/received/${folder}`;
  await Deno.remove(path, { recursive: true }).catch(() => {});
  await Deno.mkdir(path, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${path}/${name}`, text);
  }
  return `received/${folder}`;
}

const RECEIVE = "tools/release/receive.ts";
const [FIRST = ""] = SUMS.keys();

Deno.test("a job of a release takes the files that it names, with their sums, and no others", async () => {
  await using copy = await SourceCopy.make();
  const binaries = Object.fromEntries(BINARIES.map((name) => [name, name]));
  const folder = await hand(copy, "binaries", binaries);
  await writeChecksums(`${copy.folder}/${folder}`);
  const written = `${copy.folder}/${folder}/SHA256SUMS`;
  const SHA256SUMS = await Deno.readTextFile(written);

  for (
    const [what, files, message] of [
      [
        "a changed binary",
        { [FIRST]: "worse" },
        `${FIRST} has the SHA-256 sum`,
      ],
      ["a file without a sum", { more: "" }, "binaries brings more, which"],
    ] as const
  ) {
    await hand(copy, "binaries", { ...binaries, SHA256SUMS, ...files });
    assertStringIncludes(await runTool(copy, RECEIVE, folder), message, what);
  }
  const { [FIRST]: _, ...others } = binaries;
  await hand(copy, "binaries", { ...others, SHA256SUMS });
  assertStringIncludes(
    await runTool(copy, RECEIVE, folder),
    `SHA256SUMS names ${FIRST}, which is missing`,
  );
  await hand(copy, "binaries", { ...binaries, SHA256SUMS });
  assertEquals(await runTool(copy, RECEIVE, folder), "");

  const texts = ["THIRD-PARTY.md", "crates.txt"];
  const notices = { "THIRD-PARTY.md": "", "crates.txt": "" };
  for (
    const [files, message] of [
      [
        { ...notices, [FIRST]: "worse" },
        `third-party brings ${FIRST}, which nobody`,
      ],
      [{ ...notices, SHA256SUMS: "" }, "third-party brings SHA256SUMS, which"],
      [{ "THIRD-PARTY.md": "" }, "third-party lacks crates.txt"],
    ] as const
  ) {
    const third = await hand(copy, "third-party", files);
    const said = await runTool(copy, RECEIVE, third, ...texts);
    assertStringIncludes(said, message);
  }
  const third = await hand(copy, "third-party", { ...notices, [FIRST]: "" });
  assertStringIncludes(
    await runTool(copy, RECEIVE, third, ...texts, FIRST),
    `brings ${FIRST}, which `,
  );
  const dist = `${copy.folder}/dist`;
  assertEquals(await Deno.readTextFile(`${dist}/SHA256SUMS`), SHA256SUMS);
  assertEquals(await Deno.readTextFile(`${dist}/${FIRST}`), FIRST);
});

/** A bundle that prints something for everything that packages ask it for. */
const STAND_IN =
  `// agent-gateway\n${RELEASE_HEADER}\nconsole.log("agent-gateway " + Deno.args);\n`;

Deno.test({
  name:
    "a release refuses archives and packages that differ from what they are made of, by name",
  ignore: !["dpkg-deb", "help2man", "npm", "tar"].every(isInstalled),
  async fn(t) {
    await using copy = await SourceCopy.make();
    const dist = `${copy.folder}/dist`;
    const run = async (...command: readonly [string, ...string[]]) => {
      await runCommand(command, { cwd: dist });
    };
    await Deno.mkdir(dist);
    const files = {
      ...Object.fromEntries(BINARIES.map((name) => [name, name])),
    };
    files["agent-gateway.js"] = STAND_IN;
    files["THIRD-PARTY.md"] = "third parties\n";
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${dist}/${name}`, text);
    }
    const user = ["-c", "user.name=t", "-c", "user.email=t"];
    const git = ["git", "-C", copy.folder, ...user] as const;
    await runCommand([...git, "init", "--quiet"]);
    await runCommand([...git, "add", "--all"]);
    await runCommand([...git, "commit", "--quiet", "--message=Release"]);
    await writeChecksums(dist);
    assertEquals(await runTool(copy, "tools/release/package_manifests.ts"), "");
    const known = await Deno.readTextFile(`${dist}/SHA256SUMS`);

    await t.step("an archive", async () => {
      const name = `${FIRST}.gz`;
      const good = await Deno.readFile(`${dist}/${name}`);
      await Deno.writeTextFile(`${dist}/${name}`, "worse");
      const said = await runTool(copy, "tools/release/package_manifests.ts");
      assertStringIncludes(said, `${name} has the SHA-256 sum `);
      await Deno.writeFile(`${dist}/${name}`, good);
    });

    for (const architecture of ["amd64", "arm64"]) {
      const deb = ["tools/release/debian_package.ts", architecture];
      assertEquals(await runTool(copy, ...deb), "");
    }
    assertEquals(await runTool(copy, "tools/release/npm_package.ts"), "");
    const npm = `agent-gateway-${config.version}.tgz`;
    await Deno.rename(`${dist}/npm/${npm}`, `${dist}/${npm}`);
    const check = () => runTool(copy, "tools/release/check_packages.ts");

    /** Unpacks a package, changes it, packs it again, and restores it afterwards. */
    const tamper = async (
      name: string,
      change: (folder: string) => Promise<unknown>,
    ): Promise<string> => {
      const good = await Deno.readFile(`${dist}/${name}`);
      const folder = await Deno.makeTempDir();
      if (name === npm) {
        await run("tar", "-xzf", name, "-C", folder);
        await change(`${folder}/package`);
        await run("tar", "-czf", name, "-C", folder, "package");
      } else {
        await run("dpkg-deb", "--raw-extract", name, folder);
        await change(folder);
        await run("dpkg-deb", "--root-owner-group", "--build", folder, name);
      }
      const said = await check();
      await Deno.writeFile(`${dist}/${name}`, good);
      await Deno.remove(folder, { recursive: true });
      return said;
    };
    const text = Deno.writeTextFile;
    const other = DEB.replace("amd64", "arm64");
    for (
      const [name, change, message] of [
        [
          DEB,
          (f) => text(`${f}/usr/bin/agent-gateway`, "worse"),
          "usr/bin/agent-gateway differs",
        ],
        [
          other,
          (f) => text(`${f}/DEBIAN/postinst`, "#!/bin/sh\n", { mode: 0o755 }),
          "contains DEBIAN/postinst",
        ],
        [
          DEB,
          (f) => Deno.chmod(`${f}/usr/bin/agent-gateway`, 0o4755),
          "is not a usual file",
        ],
        [
          DEB,
          (f) =>
            text(
              `${f}/usr/share/bash-completion/completions/agent-gateway`,
              "worse",
            ),
          "completions/agent-gateway differs",
        ],
        [
          DEB,
          (f) => Deno.symlink("/bin/sh", `${f}/usr/bin/sh`),
          "not a file or folder of root",
        ],
        [
          DEB,
          (f) => Deno.remove(`${f}/usr/share/doc/agent-gateway/copyright`),
          "lacks usr/share/doc/agent-gateway/copyright",
        ],
        [
          npm,
          (f) => text(`${f}/agent-gateway.js`, "worse"),
          "agent-gateway.js differs",
        ],
        [
          npm,
          (f) => text(`${f}/package.json`, '{"scripts":{}}'),
          "package.json differs",
        ],
        [
          npm,
          (f) => text(`${f}/binding.gyp`, ""),
          "contains package/binding.gyp",
        ],
      ] as readonly (readonly [
        string,
        (folder: string) => Promise<unknown>,
        string,
      ])[]
    ) {
      await t.step(`${name}: ${message}`, async () => {
        assertStringIncludes(await tamper(name, change), message);
        const sums = await Deno.readTextFile(`${dist}/SHA256SUMS`);
        assertEquals(sums, known); // Nothing of it is summed.
      });
    }

    await t.step("but nothing else, and their sums come last", async () => {
      assertEquals(await check(), "");
      const sums = await Deno.readTextFile(`${dist}/SHA256SUMS`);
      assert(sums.startsWith(known));
      const added = parseSums(sums.slice(known.length));
      assertEquals(Array.from(added.keys()), [npm, DEB, other]);
    });
  },
});

Deno.test("deno task manifests refuses the standard library of npm, and a release that lacks a binary", async () => {
  await using copy = await SourceCopy.make();
  const dist = `${copy.folder}/dist`;
  await Deno.mkdir(dist);
  await Deno.writeTextFile(`${dist}/SHA256SUMS`, "");
  for (
    const [header, message] of [
      [RELEASE_HEADER.replace("JSR", "npm"), "the standard library of dist/"],
      [RELEASE_HEADER, "dist/SHA256SUMS has no sum for agent-gateway-x86_64-"],
    ] as const
  ) {
    const text = `// agent-gateway\n${header}\n`;
    await Deno.writeTextFile(`${dist}/agent-gateway.js`, text);
    const { code, stderr } = await copy.deno(["task", "-q", "manifests"]);
    assertEquals(code, 1);
    assertStringIncludes(stderr, `Cannot release: ${message}`);
  }
});

const SBOM = makeSbom({
  lock: JSON.parse(await Deno.readTextFile(`${ROOT}/deno.lock`)),
  thirdParty: await Deno.readTextFile(`${ROOT}/THIRD-PARTY.md`),
  crates: `old-crate 1.2.3|MIT/Apache-2.0|${"1".repeat(64)}\nother 1.0.0|MIT\n`,
  sums: SUMS,
  timestamp: "2026-11-24T03:21:04Z",
});

Deno.test("the SBOM names what is in the program, and what made it", () => {
  assertEquals(
    SBOM.metadata.component.purl,
    `pkg:npm/agent-gateway@${config.version}`,
  );
  const { jsr } = JSON.parse(Deno.readTextFileSync(`${ROOT}/deno.lock`));
  const names = SBOM.components.map(({ purl, licenses: [{ expression }] }) =>
    `${purl.replace("%40", "@")} ${expression}`
  );
  for (const name of ["@std/cli", "@std/dotenv", "@std/streams"]) {
    const key = Object.keys(jsr).find((key) => key.startsWith(`${name}@`));
    assert(names.includes(`pkg:jsr/${key} MIT`), name);
  }
  assert(names.includes(`pkg:github/denoland/deno@v${PINNED_DENO} MIT`));
  assert(names.includes("pkg:github/unicode-org/icu Unicode-3.0"));
  assert(names.includes("pkg:cargo/old-crate@1.2.3 MIT OR Apache-2.0"));
  assert(names.some((name) => name.startsWith("pkg:npm/@esbuild/linux-x64@")));
  assert(!JSON.stringify(SBOM).includes("@std/assert"));

  // NTIA's minimum elements, or what says which of them is not known.
  assertEquals(SBOM.metadata.timestamp, "2026-11-24T03:21:04Z");
  for (const part of [SBOM.metadata.component, ...SBOM.components]) {
    assertMatch(part.supplier.name, /^The authors of \S+$/);
    const unknown = JSON.stringify(part).match(
      /(?<="not known","value":")\w+/g,
    );
    assertEquals(unknown ?? [], [
      ...part.version === undefined ? ["version"] : [],
      ...part.hashes === undefined ? ["hash"] : [],
    ]);
  }
});

Deno.test({
  name: ".ci/third-party lists crates, and the text of each license once",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using copy = await SourceCopy.make();
    const path = `${copy.folder}/cargo`;
    await Deno.writeTextFile(
      path,
      `#!/bin/sh
case $1 in
  tree)
    echo 'denort v9.9.9 (/deno/cli/rt)|MIT'
    echo 'one v1.0.0|MIT/Apache-2.0'
    echo 'two v2.0.0+sys.3 (proc-macro)|ISC (*)' ;;
  vendor)
    mkdir -p "$4/one-1.0.0/src" "$4/two-2.0.0+sys.3"
    echo '{"files":{},"package":"${
        "1".repeat(64)
      }"}' >"$4/one-1.0.0/.cargo-checksum.json"
    echo 'The same text' | tee "$4/one-1.0.0/LICENSE-MIT" >"$4/two-2.0.0+sys.3/COPYING"
    echo 'Another text' >"$4/one-1.0.0/src/license.txt" ;;
esac
`,
      { mode: 0o755 },
    );
    const PATH = `${copy.folder}:${Deno.env.get("PATH")}`;
    const script = `${copy.folder}/.ci/third-party`;
    await runCommand([script, copy.folder], { env: { PATH } });

    const dist = `${copy.folder}/dist`;
    assertEquals(
      await Deno.readTextFile(`${dist}/crates.txt`),
      `denort 9.9.9|MIT\none 1.0.0|MIT/Apache-2.0|${
        "1".repeat(64)
      }\ntwo 2.0.0+sys.3|ISC\n`,
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
  const times = (ages: Readonly<Record<string, number>>) =>
    Object.fromEntries(
      Object.entries(ages).map(([version, days]) => [
        version,
        new Date(now.getTime() - days * 86_400_000).toISOString(),
      ]),
    );
  const all = times({
    ...{ created: 900, modified: 1, "2.9.9": 60, "2.10.0": 30 },
    ...{ "2.11.0-rc.1": 20, "2.10.1": 8, "2.10.2": 6.9 },
  });
  const late = times({ "2.10.0": 29, "2.9.9": 59, "2.10.1": 6 });
  const lacks = times({ "2.9.9": 59 });
  assertEquals(newestOfAll([all, all], now), "2.10.1");
  assertEquals(newestOfAll([all, late], now), "2.10.0");
  assertEquals(newestOfAll([all, late, lacks], now), "2.9.9");
  const none = () => newestOfAll([all, times({ "2.9.8": 70 })], now);
  assertThrows(none, Error, "no version");
});

Deno.test("checkToolchain() refuses what has another sum, no sum, or another version", async () => {
  const folder = await Deno.makeTempDir();
  const esbuild = `esbuild-${ESBUILD.version}-1/${ESBUILD.name}`;
  const paths = RUNTIMES.map((n) => `release/v${Deno.version.deno}/${n}`);
  const sums = new Map<string, string>();
  for (const path of [esbuild, ...paths]) {
    const file = `${folder}/dl/${path}`;
    await Deno.mkdir(dirname(file), { recursive: true });
    await Deno.writeTextFile(file, path);
    const sum = await sha256(new TextEncoder().encode(path));
    sums.set(path.slice(path.lastIndexOf("/") + 1), sum);
  }
  const refuses = (sums: Sums, why: string) =>
    assertRejects(() => checkToolchain(folder, sums), Error, why);

  await checkToolchain(folder, sums);
  const [name = ""] = RUNTIMES;
  await refuses(new Map(sums).set(name, "0".repeat(64)), `${name} has the `);
  sums.delete(name);
  await refuses(sums, "none: the workflow Update records it for review");
  await Deno.mkdir(`${folder}/dl/esbuild-9.9.9-1`);
  await refuses(sums, "Deno bundles with esbuild-9.9.9-1 instead of ");
  await Deno.remove(folder, { recursive: true });
});
