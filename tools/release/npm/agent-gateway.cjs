#!/usr/bin/env node
// Runs agent-gateway.js with the Deno of the "deno" package and exactly the
// permissions that it needs. Standard streams, signals and the exit code pass
// through unchanged.
"use strict";

const { spawn } = require("node:child_process");
const { isatty } = require("node:tty");
const flags = require("./flags.json");

/** The signals that end the program, as far as the system has them. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"];

function findDeno() {
  try {
    // Also where install scripts are disabled.
    return require("deno/install_api.cjs").runInstall();
  } catch (error) {
    process.stderr.write(
      `agent-gateway: cannot find Deno for this system: ${error.message}\n`,
    );
    process.exit(1);
  }
}

const child = spawn(
  findDeno(),
  ["run", ...flags, `${__dirname}/agent-gateway.js`, ...process.argv.slice(2)],
  {
    stdio: "inherit",
    env: {
      ...process.env,
      DENO_NO_PACKAGE_JSON: "1", // nothing of the folder around it counts
      DENO_NO_UPDATE_CHECK: "1",
    },
  },
);

child.on("error", (error) => {
  process.stderr.write(`agent-gateway: cannot start Deno: ${error.message}\n`);
  process.exit(1);
});

// A terminal, and the Windows console, send Ctrl-C to the child as well. (Not by
// process.stdin.isTTY: to look at it makes the stream non-blocking.)
const fromTerminal = process.platform === "win32" || [0, 1, 2].some(isatty);
for (const signal of SIGNALS) {
  process.on(signal, () => {
    if (signal === "SIGTERM" || signal === "SIGHUP" || !fromTerminal) {
      child.kill(signal);
    }
  });
}

child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const signal of SIGNALS) process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
