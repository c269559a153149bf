import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { findObstacle } from "../support/deployment.ts";
import { ReleaseFolder } from "../support/release_folder.ts";
import { SourceCopy } from "../support/source_copy.ts";

// A release as the workflow makes it, for this system.

const OBSTACLE = await findObstacle();
const BINARY = `agent-gateway-${Deno.build.target}`;
const DEB = `agent-gateway_${config.version}-1_amd64.deb`;

/** The environment variables that name another compiler than this Deno, if any. */
const TOOLCHAIN = Object.fromEntries(
  ["COMPILE_DENO", "DENORT_BIN"].map((name) => [name, Deno.env.get(name)])
    .filter(([, value]) => value !== undefined),
);

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

function isMissing(command: string): boolean {
  try {
    new Deno.Command(command, { args: ["--version"], stdout: "null" })
      .outputSync();
    return false;
  } catch {
    return true;
  }
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
        ["dpkg-deb", "help2man", "lintian"].some(isMissing),
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
        await Deno.remove(folder, { recursive: true });
      },
    });
  },
});
