import { assertEquals, assertMatch } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import config from "../../deno.json" with { type: "json" };
import { registryEntry } from "../../tools/release/package_manifests.ts";
import { SUMS } from "../support/release_sums.ts";
import manifest from "../../docs/registry/agent.json" with { type: "json" };

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
    `${import.meta.dirname}/../../docs/registry/icon.svg`,
  );
  assertMatch(icon, /^<svg [^>]*width="16" height="16"\s+viewBox="0 0 16 16"/);
  const paints = icon.matchAll(/\b(?:fill|stroke)="([^"]*)"/g);
  assertEquals(
    new Set(Array.from(paints, ([, paint]) => paint)),
    new Set(["none", "currentColor"]),
  );
});
