import { assert, assertEquals } from "@std/assert";
import { RpcError } from "../../../lib/bridge/json_rpc.ts";
import { toRpcError } from "../../../lib/bridge/service_failure.ts";
import { ServiceError } from "../../../lib/gateway.ts";

type Parts = ConstructorParameters<typeof ServiceError>[0];

const stage = "refused";
const GONE: Parts = {
  operation: "create run",
  ...{ reason: "no", stage, isThreadGone: true },
};
const ADVICE = "the chat may be gone: start a new one";

/** What the error for each failure says. */
const MESSAGES: readonly (readonly [failure: Parts, message: string])[] = [
  [
    { operation: "create thread", reason: "rejected", stage, status: 401 },
    "Cannot start a chat: rejected",
  ],
  [
    { operation: "create thread", reason: "no", stage, advice: "look again" },
    "Cannot start a chat: no; look again",
  ],
  [
    { operation: "create run", reason: "rejected", stage, status: 403 },
    "Cannot start a run: rejected",
  ],
  [GONE, `Cannot start a run: no; ${ADVICE}`],
  [{ ...GONE, isJson: true }, `Cannot start a run: no; ${ADVICE}`],
  [
    {
      ...{
        operation: "stream run",
        reason: "no",
        stage: "failed",
        detail: "no run",
      },
      ...{ threadId: "thread-1", runId: "run-1" },
    },
    "Cannot follow the run: no: no run",
  ],
];
for (const [failure, message] of MESSAGES) {
  Deno.test(`toRpcError() says "${message}" of ${JSON.stringify(failure)}`, () => {
    const cause = new ServiceError(failure);

    const error = toRpcError(cause, "session/prompt");

    assertEquals(error.cause, cause);
    const { code, message: said, data } = error.toObject();
    assertEquals([code, said], [-32603, message]);
    const isGone = failure.isThreadGone && failure.isJson;
    const details = isGone ? `Session not found: ${message}` : message;
    assertEquals(data, { details });
  });
}

Deno.test("toRpcError() leaves an RpcError as it is, and calls any other error internal", () => {
  const error = new RpcError(-32602, "Invalid params");
  assert(toRpcError(error, "session/prompt") === error);
  assertEquals(error.toObject().data, undefined);
  for (const cause of [new TypeError("thrown"), "thrown"]) {
    const { code, message, data } = toRpcError(cause, "session/new").toObject();
    assertEquals([code, message], [-32010, "Internal error: thrown"]);
    assertEquals(data, { details: message });
  }
});
