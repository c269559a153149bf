import { assert, assertEquals } from "@std/assert";
import { RpcError } from "../../../lib/bridge/json_rpc.ts";
import { logReason, toRpcError } from "../../../lib/bridge/service_failure.ts";
import type { RemoteOperation } from "../../../lib/gateway/failure/fate.ts";
import { Redactor } from "../../../lib/text.ts";
import { serviceError } from "../../support/service_errors.ts";
import { testRows } from "../../support/tables.ts";
import { redacted, serviceId } from "../../support/texts.ts";

testRows(
  "toRpcError() says in an editor's words what failed in {operation}, {failure}: {message}",
  "operation | failure | message | details",
  `
create thread | {"stage":"refused","advice":"Look again"}    | No. Look again. |
create run    | {"stage":"refused","isThreadGone":true}       | No. The chat may be gone: start a new one. | Session not found: No. The chat may be gone: start a new one.
stream run    | {"stage":"failed","detail":"why"}            | No: why. |
`,
  ({ operation, failure, message, details }) => {
    const cause = serviceError(operation as RemoteOperation, {
      reason: redacted("No"),
      ...JSON.parse(failure),
    });
    const error = toRpcError(cause, "session/prompt");
    assertEquals(error.cause, cause);
    assertEquals<unknown>(
      [error.code, error.message, error.details],
      [-32603, message, details || message],
    );
  },
);

Deno.test("toRpcError() leaves an RpcError as it is, and calls any other error internal", () => {
  const error = new RpcError(-32602, redacted("Invalid params"));
  assert(toRpcError(error, "session/prompt") === error);
  for (const cause of [new TypeError("thrown"), "thrown"]) {
    const { code, message, details } = toRpcError(cause, "session/new");
    assertEquals([code, message], [-32010, "Internal error"]);
    assertEquals<string | undefined>(details, message);
  }
});

Deno.test("logReason() names operation, thread and run without the service's words, and redacts those of an unknown error", () => {
  const failure = {
    reason: redacted("No"),
    stage: "failed",
    detail: redacted("secret"),
  } as const;
  const ids = { threadId: serviceId("t-1"), runId: serviceId("r-1") };
  const redactor = new Redactor("sk-live-1234567890");
  for (
    const [cause, expected] of [
      [
        serviceError("stream run", failure, ids),
        "stream run thread=t-1 run=r-1: No",
      ],
      [
        new TypeError("no sk-live-1234567890"),
        "Internal error: TypeError: no ...",
      ],
      [new RpcError(-32602, redacted("Invalid params")), "Invalid params"],
    ] as const
  ) {
    const error = toRpcError(cause, "session/prompt");
    assertEquals(logReason(error, redactor), redacted(expected));
  }
});
