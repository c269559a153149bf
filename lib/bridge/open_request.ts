import { membersOf, type Redacted, type Redactor, safe } from "../text.ts";
import type { BridgeContext } from "./bridge_context.ts";
import type { RpcNotification, RpcRequest } from "./json_rpc.ts";
import { logReason, toRpcError } from "./service_failure.ts";

const MAX_LOGGED = 100;

/** A request of the client, until it is answered. */
export class OpenRequest {
  readonly call: RpcRequest;
  readonly #context: BridgeContext;
  readonly #started = performance.now();

  constructor(context: BridgeContext, call: RpcRequest) {
    this.#context = context;
    this.call = call;
  }

  respond(result: unknown): void {
    const { gateway, output, log } = this.#context;
    output.respond(this.call.id, result);
    if (log === undefined) return;
    // The ids in `_meta` are in the lines about the remote calls.
    const shown = JSON.stringify({ ...membersOf(result), _meta: undefined });
    this.#log(gateway.redactor.show(shown, MAX_LOGGED));
  }

  /** Answers it with an error, with a code for its method. */
  fail(cause: unknown): void {
    const error = toRpcError(cause, this.call.method);
    const { output, gateway } = this.#context;
    output.fail(this.call.id, error);
    this.#log(safe`error ${error.code}, ${logReason(error, gateway.redactor)}`);
  }

  #log(outcome: Redacted): void {
    const { gateway, log } = this.#context;
    log?.(
      safe`${callOf(this.call, gateway.redactor)}: ${outcome}`,
      performance.now() - this.#started,
    );
  }
}

/** A call in the log: its method, its id and the session that it names. */
export function callOf(
  call: RpcRequest | RpcNotification,
  redactor: Redactor,
): Redacted {
  const id = call.kind === "request" ? ` id=${JSON.stringify(call.id)}` : "";
  const sessionId = sessionIdOf(call.params);
  const session = sessionId === undefined ? "" : ` session=${sessionId}`;
  return redactor.show(`${call.method}${id}${session}`);
}

export function sessionIdOf(params: unknown): string | undefined {
  const { sessionId } = membersOf(params);
  return typeof sessionId === "string" ? sessionId : undefined;
}
