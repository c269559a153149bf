import { assertEquals } from "@std/assert";
import type { RpcError } from "../../../lib/bridge/json_rpc.ts";
import type { notice } from "../../../lib/bridge/session_updates.ts";
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
  shown,
  shownLine,
  type Unchanged,
} from "../../../lib/text.ts";
import { programOutput } from "../../support/program_output.ts";
import { redacted, serviceId } from "../../support/texts.ts";

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

type Of<Event, Type> = Extract<Event, { type: Type }>;

/** The texts of events, failures, notices and logs, and of what takes them. */
type Fields = [
  Of<CreationEvent, "thread">["threadId"],
  Of<TurnEvent, "run">["runId"],
  WaitEvent["reason"],
  ProgressEvent["node"],
  ProgressEvent["status"],
  ReplyEvent["text"],
  ReplyEvent["note"],
  ReplyEvent["notUnderstood"],
  Failure["reason"],
  Failure["advice"],
  Failure["detail"],
  Failure["problem"],
  ServiceError["message"],
  CallIds["threadId"],
  CallIds["runId"],
  CallIds["requestId"],
  Of<ViewEvent, "banner">["text"],
  Of<ViewEvent, "error">["message"],
  Of<ViewEvent, "farewell">["threadId"],
  Extract<Input, { kind: "refused" }>["reason"],
  ReportLine["text"],
  ConstructorParameters<typeof RpcError>[1],
  RpcError["details"],
  Parameters<typeof notice>[1],
  Parameters<Log>[0],
  Parameters<ErrorOutput["write"]>[0],
  Parameters<Gateway["runTurn"]>[0],
  Parameters<Gateway["runTurn"]>[1],
];

type Open<All> = {
  [Index in keyof All]: string extends All[Index] ? Index : never;
};

type None<T extends never> = T;

/** The fields that take a foreign text, by their places above: none. */
export type Checked = None<Open<Fields>[number]>;

Deno.test("safe`` makes texts of own words, numbers, ids and safe texts", () => {
  const operation = "create run" as "create run" | "stream run";
  const names = [safe`a`, redacted("b")];
  assertEquals<string>(
    safe`${operation} ${serviceId("t")}: ${502}, ${joinSafe(names, ", ")}`,
    "create run t: 502, a, b",
  );
});

Deno.test("CONTRIBUTING's recipe for a new event compiles", async () => {
  const root = `${import.meta.dirname}/../../..`;
  const guide = await Deno.readTextFile(`${root}/CONTRIBUTING.md`);
  const [, recipe = ""] = /```ts\n(.*?)```/s.exec(guide) ?? [];
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(
    file,
    `import type { JsonObject, Redacted, Redactor } from "${root}/lib/text.ts";
    declare function stringOrEmpty(value: unknown): string;
    export ${recipe.replace("function", "export function")}`,
  );
  const command = [Deno.execPath(), "check", "-q", "--no-config", file];
  assertEquals((await programOutput(command)).stderr, "");
  await Deno.remove(file);
});
