/**
 * The exit codes. The front ends, `--help` and the documents (`tools/docs.ts`) take them
 * from here.
 *
 * @module
 */

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notRun: 3,
  keyRejected: 4,
  mayHaveRun: 5,
  hangup: 129,
  interrupted: 130,
  quit: 131,
  debugRefused: 138,
  terminated: 143,
} as const;

/** What `--help` says of each; those of signals are one entry. */
export const EXIT_BRIEFLY = [
  `${EXIT.done} done`,
  `${EXIT.failed} failed`,
  `${EXIT.usage} usage error`,
  `${EXIT.notRun} not run (retry later)`,
  `${EXIT.keyRejected} key rejected`,
  `${EXIT.mayHaveRun} may have run (do not retry)`,
  `${EXIT.hangup} to ${EXIT.terminated} ended by a signal`,
].join(", ");
