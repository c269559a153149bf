import { runCommand } from "../run_command.ts";

/** The resources that a process has used so far. */
export interface ProcessUsage {
  /** The memory that is resident now, in bytes. */
  readonly resident: number;
  /** The most memory that was ever resident, in bytes. */
  readonly peak: number;
  /** The time on a processor, in seconds. */
  readonly cpu: number;
}

/** Ticks of a second in `/proc`, the same on every Linux that Deno runs on. */
const TICKS = 100;

/**
 * Asks the system about a process.
 *
 * @throws If the process is gone, or the system is not Linux.
 */
export async function processUsage(pid: number): Promise<ProcessUsage> {
  const [stat = "", status = ""] = await Promise.all(
    ["stat", "status"].map((name) => readProc(`/proc/${pid}/${name}`)),
  );
  const kibibytes = (field: string) =>
    Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, "m").exec(status)?.[1]);
  // The 14th and 15th field, counted after the name, which can contain anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    resident: kibibytes("VmRSS") * 1024,
    peak: kibibytes("VmHWM") * 1024,
    cpu: (Number(fields[11]) + Number(fields[12])) / TICKS,
  };
}

/** What the threads that a process has now have done so far. */
export interface ThreadActivity {
  /** The time on a processor, in milliseconds. */
  readonly cpu: number;
  /** How often one of the threads was woken after it had waited. */
  readonly wakeUps: number;
}

/**
 * Asks the system about the threads of a process, more exactly than
 * {@linkcode processUsage}. Threads that have ended do not count.
 *
 * @throws If the process is gone, or the system is not Linux.
 */
export async function threadActivity(pid: number): Promise<ThreadActivity> {
  const [schedstat = "", status = ""] = await Promise.all(
    ["schedstat", "status"].map((name) =>
      readProc(`/proc/${pid}/task/*/${name}`)
    ),
  );
  const sum = (pattern: RegExp, text: string) =>
    text.matchAll(pattern).reduce((sum, [, value]) => sum + Number(value), 0);
  return {
    cpu: sum(/^(\d+) /gm, schedstat) / 1e6, // nanoseconds
    wakeUps: sum(/^voluntary_ctxt_switches:\s*(\d+)$/gm, status),
  };
}

/**
 * Reads a file, or all files that match a pattern. Uses a command: Deno would
 * need all permissions to read /proc.
 */
async function readProc(path: string): Promise<string> {
  return await runCommand(["sh", "-c", `exec cat ${path}`]);
}
