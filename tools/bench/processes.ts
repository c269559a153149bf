import { runCommand } from "../run_command.ts";

/** What a process uses, and has used so far. */
export interface ProcessUsage {
  /** The memory that is resident now, in bytes. */
  readonly resident: number;
  /** The most memory that was ever resident, in bytes. */
  readonly peak: number;
  /** The time on a processor of all threads that it has now, in milliseconds. */
  readonly cpu: number;
}

/**
 * Asks the system about a process. By a command: Deno would need all permissions to
 * read /proc.
 *
 * @throws If the process is gone, or the system is not Linux.
 */
export async function processUsage(pid: number): Promise<ProcessUsage> {
  // `cat` fails if a thread of the process ends while its files are read.
  const script = `set -e; cd /proc/${pid}; cat status; ` +
    "cat task/*/status task/*/schedstat || :";
  const text = await runCommand(["sh", "-c", script]);
  const values = (pattern: RegExp) =>
    Array.from(text.matchAll(pattern), ([, value]) => Number(value));
  const [resident = NaN] = values(/^VmRSS:\s*(\d+) kB$/gm);
  const [peak = NaN] = values(/^VmHWM:\s*(\d+) kB$/gm);
  const nanoseconds = values(/^(\d+) \d+ \d+$/gm);
  return {
    resident: resident * 1024,
    peak: peak * 1024,
    cpu: nanoseconds.reduce((a, b) => a + b, 0) / 1e6,
  };
}
