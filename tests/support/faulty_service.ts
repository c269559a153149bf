/**
 * A service whose bytes and endings a test chooses, over plain TCP or TLS. What
 * an HTTP server can do is done by `service.ts`, the reference service.
 *
 * @module
 */

export {
  absentAt,
  answering,
  correctBody,
  type FaultyAnswer,
  http,
  runOf,
  say,
  tunnels,
} from "./faulty_service/answers.ts";
export {
  goAway,
  type Part,
  partsOf,
  resetStream,
} from "./faulty_service/parts.ts";
export {
  type Connection,
  FaultyService,
  type FaultyServiceOptions,
  QUIET_HOST,
  type RawRequest,
  type Script,
  unreachable,
} from "./faulty_service/service.ts";
