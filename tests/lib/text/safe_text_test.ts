import { assertEquals, assertMatch } from "@std/assert";
import { RpcError } from "../../../lib/bridge/json_rpc.ts";
import { notice } from "../../../lib/bridge/session_updates.ts";
import type { ReportLine } from "../../../lib/check/report.ts";
import type {
  CallIds,
  CreationEvent,
  Gateway,
  ProgressEvent,
  ReplyEvent,
  ServiceError,
  TurnEvent,
  WaitEvent,
} from "../../../lib/gateway.ts";
import type { Failure } from "../../../lib/gateway/failure/failure.ts";
import type { ViewEvent } from "../../../lib/interactive/view.ts";
import type { ErrorOutput, Input, Log } from "../../../lib/io.ts";
import { styleMarkdown } from "../../../lib/markdown.ts";
import {
  joinSafe,
  type Redacted,
  safe,
  type ServiceId,
  shown,
  shownLine,
  type Unchanged,
} from "../../../lib/text.ts";
import { programOutput } from "../../support/program_output.ts";
import { redacted, serviceId } from "../../support/texts.ts";

type ThreadId = Extract<CreationEvent, { type: "thread" }>["threadId"];
type RunEvent = Extract<TurnEvent, { type: "run" }>;

declare const foreign: string;
declare const reply: Unchanged;

/** What does not compile: `deno task check` fails where nothing is wrong. */
export const REFUSED = [
  // @ts-expect-error A foreign text among own words
  () => safe`The service answered ${foreign}`,
  // @ts-expect-error A reply among own words
  () => safe`The service answered ${reply}`,
  // @ts-expect-error Own words that were changed are no longer known to be safe
  (): Redacted => safe`The service answered`.trim(),
  // @ts-expect-error A foreign text in a list
  () => joinSafe([safe`a`, foreign], ", "),
  // @ts-expect-error A foreign text on a terminal
  () => shown`The service answered ${foreign}`,
  // @ts-expect-error A text on a terminal that is not clean
  () => shown`The service answered ${safe`a`}`,
  // @ts-expect-error A foreign text in place of a clean one
  () => shownLine(foreign),
  // @ts-expect-error A reply that is not clean, with styles
  () => styleMarkdown(reply),
];

/** A foreign text in each field of an event, a failure or a notice. */
export const FIELDS = [
  // @ts-expect-error thread
  (): ThreadId => foreign,
  // @ts-expect-error run
  (): RunEvent["runId"] => foreign,
  // @ts-expect-error wait
  (): WaitEvent["reason"] => foreign,
  // @ts-expect-error progress
  (): ProgressEvent["node"] => foreign,
  // @ts-expect-error progress
  (): ProgressEvent["status"] => foreign,
  // @ts-expect-error reply
  (): ReplyEvent["text"] => foreign,
  // @ts-expect-error reply
  (): ReplyEvent["note"] => foreign,
  // @ts-expect-error reply
  (): ReplyEvent["notUnderstood"] => foreign,
  // @ts-expect-error failure
  (): Failure["reason"] => foreign,
  // @ts-expect-error failure
  (): Failure["advice"] => foreign,
  // @ts-expect-error failure
  (): Failure["detail"] => foreign,
  // @ts-expect-error failure
  (): Failure["problem"] => foreign,
  // @ts-expect-error failure
  (): ServiceError["message"] => foreign,
  // @ts-expect-error ids of a failure
  (): CallIds["threadId"] => foreign,
  // @ts-expect-error ids of a failure
  (): CallIds["runId"] => foreign,
  // @ts-expect-error ids of a failure
  (): CallIds["requestId"] => foreign,
  // @ts-expect-error banner
  (): ViewEvent => ({ type: "banner", text: foreign }),
  // @ts-expect-error error
  (): ViewEvent => ({ type: "error", message: foreign }),
  // @ts-expect-error farewell
  (): ViewEvent => ({ type: "farewell", threadId: foreign }),
  // @ts-expect-error rejected input
  (): Input => ({ kind: "refused", reason: foreign }),
  // @ts-expect-error line of the report
  (): ReportLine["text"] => foreign,
  // @ts-expect-error error of the bridge
  () => new RpcError(-32603, foreign),
  // @ts-expect-error details of an error of the bridge
  () => new RpcError(-32603, safe`a`, { details: foreign }),
  // @ts-expect-error notice
  () => notice("info", foreign),
  // @ts-expect-error line of the log
  (log: Log) => log(foreign),
  // @ts-expect-error standard error
  (output: ErrorOutput) => output.write(foreign),
  // @ts-expect-error prompt
  (gateway: Gateway, id: ServiceId) => gateway.runTurn(id, foreign),
  // @ts-expect-error thread of a prompt
  (gateway: Gateway, prompt: Unchanged) => gateway.runTurn(foreign, prompt),
];

Deno.test("safe`` makes texts of own words, numbers, ids and safe texts", () => {
  const operation = "create run" as "create run" | "stream run";
  const names = [safe`a`, redacted("b")];
  assertEquals<string>(
    safe`${operation} ${serviceId("t")}: ${502}, ${joinSafe(names, ", ")}`,
    "create run t: 502, a, b",
  );
});

Deno.test("CONTRIBUTING's recipe for a new event compiles, and does not without the redactor", async () => {
  const root = `${import.meta.dirname}/../../..`;
  const guide = await Deno.readTextFile(`${root}/CONTRIBUTING.md`);
  const [, recipe = ""] = /```ts\n(.*?)```/s.exec(guide) ?? [];
  const folder = await Deno.makeTempDir();
  const check = async (name: string, source: string) => {
    const file = `${folder}/${name}.ts`;
    await Deno.writeTextFile(
      file,
      `import type { JsonObject, Redacted, Redactor } from "${root}/lib/text.ts";
      declare function stringOrEmpty(value: unknown): string;
      export ${source.replace("function", "export function")}`,
    );
    const command = [Deno.execPath(), "check", "-q", "--no-config", file];
    return await programOutput(command, {});
  };
  try {
    assertEquals((await check("safe", recipe)).stderr, "");
    const unsafe = recipe.replace(/redactor\.showName\((.*)\);/, "$1;");
    const { stderr } = await check("unsafe", unsafe);
    assertMatch(
      stderr,
      /TS2322.*'string' is not assignable to type 'Redacted'/,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
