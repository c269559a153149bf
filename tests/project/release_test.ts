import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import config from "../../deno.json" with { type: "json" };
import manifest from "../../docs/registry/agent.json" with { type: "json" };
import { PINNED_DENO } from "../../tools/pins.ts";
import { checkEsbuild } from "../../tools/release/esbuild.ts";
import {
  homebrewFormula,
  parseSums,
  registryEntry,
  scoopManifest,
} from "../../tools/release/package_manifests.ts";
import { makeSbom } from "../../tools/release/sbom.ts";
import { section } from "../../tools/release_notes.ts";
import { findObstacle, TOOLCHAIN } from "../support/deployment.ts";
import { isInstalled } from "../support/fronts.ts";
import { ReleaseFolder } from "../support/release_folder.ts";
import { SourceCopy } from "../support/source_copy.ts";

// A release as the workflow makes it, for this system.

const ROOT = `${import.meta.dirname}/../..`;
const OBSTACLE = await findObstacle();
const BINARY = `agent-gateway-${Deno.build.target}`;
const DEB = `agent-gateway_${config.version}-1_amd64.deb`;

async function run(command: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args })
    .output();
  const text = new TextDecoder().decode(stdout);
  assert(success, text + new TextDecoder().decode(stderr));
  return text;
}

/** Builds bundle and binary in a clean copy of the sources, with a history. */
async function build(): Promise<SourceCopy> {
  const copy = await SourceCopy.make();
  const git = ["-C", copy.folder, "-c", "user.name=t", "-c", "user.email=t"];
  await run("git", ...git, "init", "--quiet");
  await run("git", ...git, "add", "--all");
  await run("git", ...git, "commit", "--quiet", "--message=Release");
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

    await t.step("is installed by its own script, and runs", async () => {
      await using releases = new ReleaseFolder();
      const bytes = await Deno.readFile(`${dist}/${BINARY}`);
      await releases.add("latest", { [BINARY]: bytes });
      const folder = await Deno.makeTempDir();

      const output = await run(
        "sh",
        `${first.folder}/tools/release/install.sh`,
        ...["--from", releases.url, "--to", folder],
      );

      assertStringIncludes(
        output,
        `Installed ${folder}/agent-gateway: agent-gateway ${config.version} (`,
      );
      await Deno.remove(folder, { recursive: true });
    });

    await t.step({
      name: "has a Debian package in which lintian finds nothing",
      ignore: Deno.build.arch !== "x86_64" ||
        !["dpkg-deb", "help2man", "lintian"].every(isInstalled),
      async fn() {
        const { code, stderr } = await first.deno(["task", "-q", "deb"]);
        assertEquals(code, 0, stderr);

        assertEquals(
          await run("lintian", "--allow-root", `${dist}/${DEB}`),
          "",
        );

        const folder = await Deno.makeTempDir();
        await run("dpkg-deb", "--extract", `${dist}/${DEB}`, folder);
        assertStringIncludes(
          await run(`${folder}/usr/bin/agent-gateway`, "--version"),
          `agent-gateway ${config.version} (`,
        );
        const manual = `${folder}/usr/share/man/man1/agent-gateway.1.gz`;
        assertStringIncludes(await run("zcat", manual), "\\fB\\-\\-bridge");
        await run(
          "sh",
          "-c",
          `cd ${folder} && dpkg-deb --info ${dist}/${DEB} md5sums | md5sum --check --strict`,
        );
        await Deno.remove(folder, { recursive: true });
      },
    });
  },
});

const CHANGELOG = `# Changes

## 1.10.0

- New

## 1.1.0

One

- Two

## 1.0.0

## 0.9.0

Old
`;

for (
  const [version, notes] of [
    ["1.10.0", "- New"],
    ["1.1.0", "One\n\n- Two"],
    ["1.0.0", undefined],
    ["0.9.0", "Old"],
    ["1.1", undefined],
    ["2.0.0", undefined],
  ] as const
) {
  Deno.test(`section() of ${version} is ${JSON.stringify(notes)}`, () => {
    assertEquals(section(CHANGELOG, version), notes);
  });
}

Deno.test("CHANGELOG.md tells something about the version in deno.json", async () => {
  const changelog = await Deno.readTextFile(
    `${ROOT}/CHANGELOG.md`,
  );
  assert(section(changelog, config.version) !== undefined);
});

Deno.test("the release notes are refused to a tag of another version", async () => {
  const run = async (tag: string) => {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...[
          "run",
          "-q",
          "--allow-read=CHANGELOG.md,docs/install.md",
          "--no-prompt",
        ],
        ...["tools/release_notes.ts", tag],
      ],
      cwd: ROOT,
    }).output();
    return [
      code,
      new TextDecoder().decode(stdout),
      new TextDecoder().decode(stderr),
    ];
  };
  const { version } = config;

  const [code, notes] = await run(`v${version}`);
  assertEquals(code, 0);
  assertStringIncludes(`${notes}`, "\n## Systems\n\n| System ");
  for (const tag of [version, `v${version}.1`, "v"]) {
    assertEquals(await run(tag), [
      1,
      "",
      `The tag is ${tag}, but deno.json has version ${version}\n`,
    ]);
  }
});

const TARGETS = [
  "aarch64-apple-darwin",
  "aarch64-pc-windows-msvc.exe",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "x86_64-pc-windows-msvc.exe",
  "x86_64-unknown-linux-gnu",
];

/** The sums of a release with all binaries: each a digit, 64 times. */
const SUMS = parseSums(
  TARGETS.map((target, index) =>
    `${`${index}`.repeat(64)}  agent-gateway-${target}\n`
  ).join(""),
);

const RELEASE =
  `https://github.com/agent-gateway/agent-gateway/releases/download/v${config.version}`;

Deno.test("the Homebrew formula has each binary with its own sum", () => {
  const formula = homebrewFormula(SUMS);

  const pairs = formula.matchAll(/url "([^"]+)"\n +sha256 "([^"]+)"/g);
  const found = Array.from(pairs, ([, url = "", sum]) => {
    assert(url.startsWith(`${RELEASE}/`));
    return [url.slice(RELEASE.length + 1), sum];
  });
  assertEquals(found.length, 4);
  for (const [name = "", sum] of found) assertEquals(sum, SUMS.get(name));
  assert(formula.includes(`version "${config.version}"`));
});

Deno.test({
  name: "the Homebrew formula is Ruby",
  ignore: !isInstalled("ruby"),
  async fn() {
    const path = await Deno.makeTempFile({ suffix: ".rb" });
    await Deno.writeTextFile(path, homebrewFormula(SUMS));

    const { success, stderr } = await new Deno.Command("ruby", {
      args: ["-wc", path],
    }).output();

    await Deno.remove(path);
    assert(success, new TextDecoder().decode(stderr));
  },
});

Deno.test("the Scoop manifest is JSON with each binary and its own sum", () => {
  const manifest = JSON.parse(scoopManifest(SUMS));

  assertEquals(manifest.version, config.version);
  for (
    const { url, hash } of Object.values<{ url: string; hash: string }>(
      manifest.architecture,
    )
  ) {
    const [file = "", alias] = url.slice(RELEASE.length + 1).split("#/");
    assertEquals(hash, SUMS.get(file));
    assertEquals(alias, manifest.bin);
  }
});

for (const manifest of [homebrewFormula, scoopManifest, registryEntry]) {
  Deno.test(`${manifest.name}() refuses sums that lack a binary`, () => {
    assertThrows(
      () => manifest(new Map()),
      Error,
      "SHA256SUMS has no sum for agent-gateway-",
    );
  });
}

// The requirements of the Agent Client Protocol's registry for an entry
// (github.com/agentclientprotocol/registry, CONTRIBUTING.md, August 2026).
const TARGET = {
  type: "object",
  required: ["archive", "cmd"],
  additionalProperties: false,
  properties: {
    archive: { type: "string", pattern: "^https://(?!.*/latest/)" },
    cmd: { type: "string", pattern: "^\\./" },
    args: { type: "array", items: { type: "string" } },
    env: { type: "object", additionalProperties: { type: "string" } },
    sha256: { type: "string", pattern: "^[0-9a-f]{64}$" },
  },
};
const ENTRY = {
  type: "object",
  required: [
    ...["id", "name", "version", "description", "license_url", "distribution"],
  ],
  additionalProperties: false,
  properties: {
    id: { type: "string", pattern: "^[a-z][a-z0-9-]*$" },
    name: { type: "string", minLength: 1 },
    version: { type: "string", pattern: "^\\d+\\.\\d+\\.\\d+$" },
    description: { type: "string", minLength: 1 },
    repository: { type: "string", pattern: "^https://" },
    license: { type: "string" },
    license_url: { type: "string", pattern: "^https://" },
    distribution: {
      type: "object",
      required: ["binary"],
      additionalProperties: false,
      properties: {
        npx: {
          type: "object",
          required: ["package"],
          additionalProperties: false,
          properties: {
            package: {
              type: "string",
              pattern: "^[a-z-]+@\\d+\\.\\d+\\.\\d+$",
            },
            args: { type: "array", items: { type: "string" } },
            env: { type: "object", additionalProperties: { type: "string" } },
          },
        },
        binary: {
          type: "object",
          minProperties: 1,
          additionalProperties: false,
          patternProperties: {
            "^(darwin|linux|windows)-(aarch64|x86_64)$": TARGET,
          },
        },
      },
    },
  },
};

Deno.test("docs/registry/agent.json names the npm package of this version", () => {
  assertEquals(
    manifest.distribution.npx.package,
    `agent-gateway@${config.version}`,
  );
});

Deno.test("the registry's entry of a release has the sum of each binary", () => {
  const entry = registryEntry(SUMS);
  const ajv = new Ajv2020();
  ajv.validate(ENTRY, entry);
  assertEquals(ajv.errorsText(), "No errors");
  for (
    const { cmd, sha256 } of Object.values<{ cmd: string; sha256?: string }>(
      entry.distribution.binary,
    )
  ) {
    assertEquals(sha256, SUMS.get(cmd.slice("./".length)));
  }
});

Deno.test("docs/registry/agent.json is what the registry asks for", () => {
  const ajv = new Ajv2020();
  ajv.validate(ENTRY, manifest);
  assertEquals(ajv.errorsText(), "No errors");
});

Deno.test("docs/registry/agent.json names the released binaries of this version", () => {
  assertEquals(manifest.version, config.version);
  const release = `${manifest.repository}/releases/download/v${config.version}`;
  for (const { archive, cmd } of Object.values(manifest.distribution.binary)) {
    assertEquals(archive, `${release}/${cmd.slice("./".length)}`);
    assertMatch(cmd, /^\.\/agent-gateway-(x86_64|aarch64)-[a-z-]+(\.exe)?$/);
  }
});

Deno.test("docs/registry/icon.svg is 16 by 16 and takes the colour around it", async () => {
  const icon = await Deno.readTextFile(
    `${ROOT}/docs/registry/icon.svg`,
  );
  assertMatch(icon, /^<svg [^>]*width="16" height="16"\s+viewBox="0 0 16 16"/);
  const paints = icon.matchAll(/\b(?:fill|stroke)="([^"]*)"/g);
  assertEquals(
    new Set(Array.from(paints, ([, paint]) => paint)),
    new Set(["none", "currentColor"]),
  );
});

import "../support/deployment.ts"; // It bundles: Deno has its esbuild.

Deno.test("the SBOM names what is in the program, and what made it", async () => {
  const lock = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.lock`));
  const { metadata, components } = makeSbom(lock);

  assertMatch(
    JSON.stringify(metadata),
    new RegExp(`"purl":"pkg:npm/agent-gateway@${config.version}"`),
  );
  assertEquals(
    components.map(({ name, licenses: [{ license }] }) => [name, license.id]),
    [
      ["@std/cli", "MIT"],
      ["@std/dotenv", "MIT"],
      ["@std/streams", "MIT"],
      ["denoland/deno", "MIT"],
      ["v8/v8", "BSD-3-Clause"],
      ["@esbuild/linux-x64", "MIT"],
    ],
  );
  assertEquals(components[3]?.version, PINNED_DENO);
});

Deno.test({
  name: "the pinned esbuild is the one that this Deno bundles with",
  // Releases are made there.
  ignore: Deno.build.target !== "x86_64-unknown-linux-gnu",
  async fn() {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", "--no-config"],
    }).output();
    const { denoDir } = JSON.parse(new TextDecoder().decode(stdout));
    await checkEsbuild(denoDir);

    const folder = await Deno.makeTempDir();
    const name = "dl/esbuild-0.25.5-1";
    await Deno.mkdir(`${folder}/${name}`, { recursive: true });
    await Deno.writeTextFile(`${folder}/${name}/esbuild-linux-x64`, "other");
    await assertRejects(() => checkEsbuild(folder), Error, "SHA-256 sum");
    await Deno.mkdir(`${folder}/dl/esbuild-9.9.9-1`);
    await assertRejects(() => checkEsbuild(folder), Error, "esbuild-9.9.9-1");
    await Deno.remove(folder, { recursive: true });
  },
});
