/**
 * Bytes in and out of the process: standard streams, lines, writers and timers.
 *
 * @module
 */

export { ByteBuffer } from "./io/byte_buffer.ts";
export { Deadline, pause, Timeout } from "./io/deadline.ts";
export { environmentVariable } from "./io/environment_variable.ts";
export { ErrorOutput } from "./io/error_output.ts";
export { shareEventLoop } from "./io/event_loop.ts";
export { failureLine } from "./io/failure_line.ts";
export {
  lineFault,
  MAX_LINE_BYTES,
  readEachLine,
  readLines,
} from "./io/lines.ts";
export { LineWriter } from "./io/line_writer.ts";
export {
  type ByteSink,
  errorSink,
  InputError,
  isReaderGone,
  outputSink,
  readStandardInput,
} from "./io/standard_streams.ts";
export { startTimer, timeLeft, type TimeLimit, within } from "./io/timer.ts";
