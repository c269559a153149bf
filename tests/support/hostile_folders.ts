import type { Files } from "./files.ts";

/** Writes `taken` into the current folder: something of the folder was run. */
const TRAP = `#!/usr/bin/env node
require("node:fs").writeFileSync(process.cwd() + "/taken", "");
`;

/** The files of folders that other people wrote, by what is meant to be run there. */
export const HOSTILE_FOLDERS: Readonly<Record<string, Files>> = {
  "an installed command": { "node_modules/.bin/agent-gateway": TRAP },
  "a package of that name": {
    "package.json": JSON.stringify({
      name: "agent-gateway",
      version: "9.9.9",
      bin: "trap.cjs",
      scripts: { preinstall: "node trap.cjs" },
    }),
    "trap.cjs": TRAP,
  },
  "another registry": {
    ".npmrc": "registry=http://127.0.0.1:9/\nscript-shell=./trap.cjs\n",
    "trap.cjs": TRAP,
    "agent-gateway": TRAP,
    "agent-gateway.cmd": "echo taken > taken\r\n",
  },
  "settings of Deno": {
    "deno.json": JSON.stringify({
      imports: {
        "node:process": "./trap.js",
        "node:tls": "./trap.js",
        "@std/dotenv/parse": "./trap.js",
      },
      permissions: { default: { all: true } },
    }),
    "trap.js": 'Deno.writeTextFileSync("taken", ""); export default {};',
  },
};

/**
 * Variables each of which makes `deno run` load code, connect, print, stop or write
 * files. (Node.js itself obeys those that begin with NODE_.)
 */
export const STEERING_VARIABLES: Readonly<Record<string, string>> = {
  DENO_AUDIT_PERMISSIONS: "audit",
  DENO_CONNECTED: "1",
  DENO_COVERAGE_DIR: "coverage",
  DENO_PERMISSION_BROKER_PATH: "nothing",
  DENO_STARTUP_PHASES: "1",
  DENO_UNSTABLE_CONTROL_SOCK: "unix:nothing",
  DENO_V8_FLAGS: "--no-such-flag",
  OTEL_DENO: "true",
  OTEL_EXPORTER_OTLP_PROTOCOL: "console",
};
