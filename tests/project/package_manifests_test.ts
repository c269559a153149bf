import { assert, assertEquals, assertThrows } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { fillTemplate } from "../../tools/release/package_manifests.ts";
import { SUMS } from "../support/release_sums.ts";

const TEMPLATES = `${import.meta.dirname}/../../tools/release`;
const RELEASE =
  `https://github.com/agent-gateway/agent-gateway/releases/download/v${config.version}`;

async function filled(name: string): Promise<string> {
  return fillTemplate(await Deno.readTextFile(`${TEMPLATES}/${name}`), SUMS);
}

Deno.test("the Homebrew formula has each binary with its own sum", async () => {
  const formula = await filled("homebrew.rb");

  const pairs = formula.matchAll(/url "([^"]+)"\n +sha256 "([^"]+)"/g);
  const found = Array.from(pairs, ([, url = "", sum]) => {
    assert(url.startsWith(`${RELEASE}/`));
    return [url.slice(RELEASE.length + 1), sum];
  });
  assertEquals(found.length, 4);
  for (const [name = "", sum] of found) assertEquals(sum, SUMS.get(name));
  assert(formula.includes(`version "${config.version}"`));
  assert(!formula.includes("{{"));
});

Deno.test({
  name: "the Homebrew formula is Ruby",
  ignore: isMissing("ruby"),
  async fn() {
    const path = await Deno.makeTempFile({ suffix: ".rb" });
    await Deno.writeTextFile(path, await filled("homebrew.rb"));

    const { success, stderr } = await new Deno.Command("ruby", {
      args: ["-wc", path],
    }).output();

    await Deno.remove(path);
    assert(success, new TextDecoder().decode(stderr));
  },
});

Deno.test("the Scoop manifest is JSON with each binary and its own sum", async () => {
  const manifest = JSON.parse(await filled("scoop.json"));

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

Deno.test("a template that names a file without a sum is refused", () => {
  assertThrows(
    () => fillTemplate("{{sha256:agent-gateway-beos}}", SUMS),
    Error,
    "SHA256SUMS has no sum for agent-gateway-beos",
  );
});

function isMissing(command: string): boolean {
  try {
    new Deno.Command(command, { args: ["--version"], stdout: "null" })
      .outputSync();
    return false;
  } catch {
    return true;
  }
}
