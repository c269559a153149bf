import { ServiceError } from "../../lib/gateway.ts";
import {
  type CallIds,
  CallState,
} from "../../lib/gateway/failure/call_state.ts";
import type { Failure } from "../../lib/gateway/failure/failure.ts";
import type { RemoteOperation } from "../../lib/gateway/failure/fate.ts";

/** The error of a call that failed at an operation. */
export function serviceError(
  operation: RemoteOperation,
  failure: Failure,
  ids: CallIds = {},
): ServiceError {
  return new ServiceError(failure, new CallState(operation, ids));
}
