import { parseSums, type Sums } from "../../tools/release/package_manifests.ts";

const TARGETS = [
  "aarch64-apple-darwin",
  "aarch64-pc-windows-msvc.exe",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "x86_64-pc-windows-msvc.exe",
  "x86_64-unknown-linux-gnu",
];

/** The sums of a release with all binaries: each a digit, 64 times. */
export const SUMS: Sums = parseSums(
  TARGETS.map((target, index) =>
    `${`${index}`.repeat(64)}  agent-gateway-${target}\n`
  ).join(""),
);
