/**
 * Bytes in and out, and time. It does not know what the bytes mean.
 *
 * `standard_streams.ts` reads and writes the streams of the process, whatever else uses
 * them; `line_writer.ts` queues lines for one of them, and `error_output.ts` keeps two of
 * them in order on one terminal. `lines.ts` and `read_text.ts` read text from bytes.
 * `timeout.ts` has the only timers; `deadline.ts`, `time_limit.ts` and `awake_clock.ts`
 * are built on it.
 *
 * @module
 */

export { AwakeClock } from "./io/awake_clock.ts";
export { Deadline, TimeIsOver } from "./io/deadline.ts";
export { environmentVariable } from "./io/environment_variable.ts";
export { ErrorOutput, type TerminalOutput } from "./io/error_output.ts";
export { shareEventLoop, turnOfEventLoop } from "./io/event_loop.ts";
export { failureLine } from "./io/failure_line.ts";
export { type Entry, type Input, InputQueue } from "./io/input_queue.ts";
export { type Line, readEachLine, WholeLines } from "./io/lines.ts";
export { LineWriter } from "./io/line_writer.ts";
export { type Log, openLog } from "./io/log.ts";
export { MAX_PROMPT_BYTES, PROMPT_TOO_LONG } from "./io/prompt_limit.ts";
export { type ReadText, readText } from "./io/read_text.ts";
export {
  type ByteSink,
  errorSink,
  isReaderGone,
  isShown,
  kindOf,
  outputSink,
  readStandardInput,
  StreamError,
  type StreamKind,
} from "./io/standard_streams.ts";
export { TimeLimit } from "./io/time_limit.ts";
export { pause, startTimeout, within } from "./io/timeout.ts";
