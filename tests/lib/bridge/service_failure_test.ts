import { assert, assertEquals } from "@std/assert";
import { RpcError } from "../../../lib/bridge/json_rpc.ts";
import { toRpcError } from "../../../lib/bridge/service_failure.ts";
import { ServiceError } from "../../../lib/gateway.ts";

type Failure = ServiceError["failure"];

const ids = { threadId: "thread-1", runId: "run-1" };

/** What the error for each failure says; its data has the operation, too. */
const FAILURES: readonly (readonly [
  failure: Failure,
  code: number,
  message: string,
  data: Readonly<Record<string, unknown>>,
])[] = [
  [
    {
      operation: "create thread",
      reason: "rejected",
      fate: "refused",
      status: 401,
    },
    ...[-32010, "Cannot start a chat: rejected", { status: 401 }] as const,
  ],
  [
    {
      operation: "create thread",
      reason: "no answer",
      fate: "refused",
      advice: "look again",
    },
    ...[-32010, "Cannot start a chat: no answer; look again", {}] as const,
  ],
  [
    {
      operation: "create run",
      reason: "rejected",
      fate: "refused",
      status: 403,
    },
    ...[-32603, "Cannot start a run: rejected", { status: 403 }] as const,
  ],
  [
    {
      ...{
        operation: "create run",
        reason: "gone",
        fate: "refused",
        status: 404,
      } as const,
      ...{ isThreadGone: true, isJson: true } as const,
    },
    -32603,
    "Cannot start a run: gone; the chat may be gone: start a new one",
    { status: 404, details: "Session not found" },
  ],
  [
    {
      operation: "create run",
      reason: "gone",
      fate: "refused",
      isThreadGone: true,
    },
    -32603,
    "Cannot start a run: gone; the chat may be gone: start a new one",
    {},
  ],
  [
    { operation: "stream run", reason: "silent", fate: "failed", ...ids },
    ...[-32603, "Cannot follow the run: silent", ids] as const,
  ],
  [
    {
      operation: "stream run",
      reason: "no",
      fate: "failed",
      status: 404,
      detail: "no run",
    },
    ...[-32603, "Cannot follow the run: no: no run", { status: 404 }] as const,
  ],
];
for (const [failure, code, message, data] of FAILURES) {
  Deno.test(`toRpcError() says ${code} "${message}"`, () => {
    const error = new ServiceError(failure);
    const { operation } = failure;
    assertEquals(toRpcError(error).toObject(), {
      ...{ code, message, data: { operation, ...data } },
    });
    assertEquals(toRpcError(error).cause, error);
  });
}

Deno.test("toRpcError() leaves an RpcError as it is, and calls any other error internal", () => {
  const error = new RpcError(-32602, "Invalid params");
  assert(toRpcError(error) === error);
  assertEquals(
    [new TypeError("a defect"), "thrown"].map((error) =>
      toRpcError(error).toObject()
    ),
    [
      { code: -32603, message: "Internal error: a defect" },
      { code: -32603, message: "Internal error: thrown" },
    ],
  );
});
