#!/usr/bin/env node
// Runs the program with the Deno of this system's @deno package and exactly the
// permissions that it needs. Standard streams, signals and the exit code pass
// through unchanged.
"use strict";

const { execFile, spawn } = require("node:child_process");
const { accessSync, constants, lstatSync, mkdirSync } = require("node:fs");
const { constants: { signals }, homedir, tmpdir } = require("node:os");
const { isAbsolute } = require("node:path");
const { isatty } = require("node:tty");
const flags = require("./flags.json");

/** What starts Deno on Linux with glibc. Alpine (musl) and NixOS have no such file. */
const LOADER = process.platform === "linux"
  ? { x64: "/lib64/ld-linux-x86-64.so.2", arm64: "/lib/ld-linux-aarch64.so.1" }[
    process.arch
  ]
  : undefined;

/**
 * Variables that make Deno load code (NODE_OPTIONS, which VS Code's debug
 * terminals set), open a debugger, trace, record, or write the secrets of TLS into a
 * file. The rest of their kind says which certificates count, and where Deno keeps its
 * cache.
 */
const STEERS_RUNTIME = /^(?:(?:DENO|NODE|OTEL|V8)_|SSLKEYLOGFILE$)/i;
const PASSED_ON =
  /^(?:DENO_CERT|DENO_DIR|DENO_TLS_CA_STORE|NODE_EXTRA_CA_CERTS)$/i;

function environment() {
  const inherited = Object.entries(process.env).filter(([name]) =>
    !STEERS_RUNTIME.test(name) || PASSED_ON.test(name)
  );
  return {
    ...Object.fromEntries(inherited),
    DENO_NO_PACKAGE_JSON: "1", // nothing of the folder around it counts
    DENO_NO_UPDATE_CHECK: "1",
    ...cacheFolder(),
  };
}

/**
 * Chooses where Deno keeps its cache: it prints warnings where it cannot, as in a
 * container, and does not start at all for a user without a home. Below the
 * temporary folder, only a folder that is this user's alone will do.
 */
function cacheFolder() {
  const { DENO_DIR, XDG_CACHE_HOME } = process.env;
  if (DENO_DIR || process.platform === "win32") return {};
  const uid = process.getuid();
  const folders = [
    () => [XDG_CACHE_HOME || `${homedir()}/.cache`, "agent-gateway-deno"],
    () => [tmpdir(), `agent-gateway-${uid}`],
  ];
  for (const folder of folders) {
    try {
      const [parent, name] = folder();
      const path = `${parent}/${name}`;
      if (!isAbsolute(path)) continue;
      // Not recursively: below /proc, Node.js would try for ever.
      makeFolder(parent);
      makeFolder(path);
      const found = lstatSync(path);
      const isPrivate = found.uid === uid && (found.mode & 0o022) === 0;
      if (isPrivate) return { DENO_DIR: path };
    } catch {
      // There is no home, or it cannot be written.
    }
  }
  return { DENO_DIR: "/dev/null/none" }; // Nobody can make it: Deno keeps no cache.
}

function makeFolder(path) {
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
}

function fail(message) {
  process.stderr.write(`agent-gateway: ${message}\n`);
  process.exit(1);
}

function findDeno() {
  const { arch, platform } = process;
  const libc = platform === "linux" ? "-glibc" : "";
  const name = `@deno/${platform}-${arch}${libc}`;
  try {
    const file = platform === "win32" ? "deno.exe" : "deno";
    return require.resolve(`${name}/${file}`);
  } catch {
    return fail(
      `the optional package ${name} is not installed: install again without omitting optional packages; Deno has none for musl (Alpine) and other systems`,
    );
  }
}

/** Whether Deno can be executed, as far as that can be seen: execve aborts Node.js. */
function canExecute(file) {
  try {
    accessSync(file, constants.X_OK); // no, on a file system that is mounted noexec
    if (process.platform === "linux") accessSync(LOADER);
    return true;
  } catch {
    return false;
  }
}

function checkWorkingFolder() {
  try {
    process.cwd();
  } catch {
    fail("the working folder no longer exists");
  }
}

checkWorkingFolder();
const deno = findDeno();
const main = `${__dirname}/agent-gateway.js`;
const args = ["run", ...flags, main, ...process.argv.slice(2)];

// From Node.js 22.15 and 23.11 on, the program replaces this process, which saves
// one for each editor. At a terminal, Ctrl-Z needs this process: see below. As PID 1,
// Deno would miss a SIGTERM that comes before the program listens.
if (
  process.execve !== undefined && process.platform !== "win32" &&
  process.pid !== 1 && !isatty(0) && canExecute(deno)
) {
  process.execve(deno, [deno, ...args], environment());
}

// Listens before the child is there: these are heard once it is. PID 1 would miss them.
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    // On Windows, Node.js cannot send SIGHUP, and throws. A closed console ends both.
    child.kill(process.platform === "win32" ? "SIGTERM" : signal);
  });
}

const child = spawn(deno, args, { stdio: "inherit", env: environment() });

child.on("error", ({ code, message }) => {
  const reason = code === "ENOENT" && LOADER !== undefined
    ? `its loader ${LOADER} is missing: Deno needs glibc, and does not run with musl (Alpine)`
    : message;
  fail(`cannot start Deno: ${reason}`);
});

// Without a listener, Node.js opens a debugger that has no password, and so does Deno.
process.on("SIGUSR1", () => {
  child.prependListener("exit", () => process.exit(138));
  child.kill("SIGTERM");
});

// A terminal, and the Windows console, send their signals to the child as well. (Not by
// process.stdin.isTTY: to look at it makes the stream non-blocking.)
const fromTerminal = process.platform === "win32" || [0, 1, 2].some(isatty);
for (const signal of ["SIGINT", "SIGQUIT", "SIGBREAK"]) {
  process.on(signal, () => {
    if (!fromTerminal) child.kill(signal);
  });
}

// The program looks at its parent once its input has ended: a killed editor ends both.
if (args.some((arg) => /^(?:--bridge|-[a-zA-Z]*b[a-zA-Z]*)$/.test(arg))) {
  const parent = process.ppid;
  const look = () => {
    if (process.ppid !== parent) process.exit(1);
  };
  setInterval(look, 2000).unref();
}

// At Ctrl-Z the program stops itself alone, but the shell waits for this process, or for
// one that has started it: npx, a script. So all of them stop, as if the terminal had sent
// the signal, and the shell continues them all.
let isAsking = false;
process.on("SIGCHLD", () => {
  if (isAsking) return; // The signal is about the question.
  isAsking = true;
  const { pid } = child;
  const ask = `cat /proc/${pid}/stat 2>/dev/null || ps -o state= -p ${pid}`;
  execFile("sh", ["-c", ask], (_error, state) => {
    isAsking = false;
    if (/(?:^|\) )T/.test(state)) process.kill(0, "SIGTSTP");
  });
});

child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  try {
    process.kill(process.pid, signal);
  } finally {
    // A signal of its own does not end PID 1.
    process.exit(128 + signals[signal]);
  }
});
