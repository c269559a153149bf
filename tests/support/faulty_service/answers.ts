import { Buffer } from "node:buffer";
import { complete, encodeItem } from "../service/behaviours.ts";
import type { Operation } from "../service/exchange.ts";
import {
  type Connection,
  FaultyService,
  QUIET_HOST,
  type RawRequest,
  type Script,
} from "./service.ts";

/** Answers a request wrongly, or ends its connection. */
export type FaultyAnswer = (
  connection: Connection,
  request: RawRequest,
) => void | Promise<void>;

/** Answers requests: wrongly where there is a faulty answer, else correctly. */
export function answering(
  faultOf: (request: RawRequest) => FaultyAnswer | undefined,
): Script {
  return async (connection) => {
    for (;;) {
      const request = await connection.read();
      if (request === undefined) return;
      const answer = faultOf(request);
      if (answer !== undefined) return await answer(connection, request);
      await connection.write(correctAnswer(request));
    }
  };
}

/** Sends these bytes, and closes the connection. */
export function say(bytes: string | Uint8Array): FaultyAnswer {
  return (connection) => connection.write(bytes);
}

/**
 * A corporate proxy for `CONNECT`.
 *
 * @param route The target of the proxy's tunnel with this number: a port of this
 * machine, whatever name was requested, or the proxy's own answer.
 */
export function tunnels(route: (number: number) => number | string): Script {
  return async (connection) => {
    if (await connection.read() === undefined) return;
    const target = route(connection.number);
    if (typeof target === "string") return await connection.write(target);
    await connection.write("HTTP/1.1 200 OK\r\n\r\n");
    await connection.forward(target);
  };
}

/**
 * A service that stops listening before an operation, until a test calls
 * `return()`.
 */
export async function absentAt(
  at: "create thread" | "create run",
): Promise<FaultyService> {
  let isGone = false;
  const leaving: FaultyAnswer = async (connection, request) => {
    // First, so that the client's next request cannot be faster.
    service.leave();
    isGone = true;
    await connection.write(correctAnswer(request));
  };
  const service = await FaultyService.start(
    answering(() => isGone ? undefined : leaving),
    { hostname: QUIET_HOST },
  );
  if (at === "create thread") {
    service.leave();
    isGone = true;
  }
  return service;
}

/** A whole HTTP answer. */
export function http(
  status: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array = "",
): Uint8Array {
  const fields = { "content-length": Buffer.byteLength(body), ...headers };
  const lines = Object.entries(fields).map((field) => field.join(": "));
  const head = [`HTTP/1.1 ${status}`, ...lines, "", ""].join("\r\n");
  return Buffer.concat([Buffer.from(head), Buffer.from(body)]);
}

/**
 * The body of the correct answer.
 *
 * @param run The run's id. It is in the reply.
 */
export function correctBody(operation: Operation, run = "run-1"): string {
  switch (operation) {
    case "create thread":
      return '{"thread_id":"thread-1"}';
    case "create run":
      return JSON.stringify({ run_id: run });
    case "stream":
      return new TextDecoder().decode(
        encodeItem(complete(`Reply to ${run}`)),
      );
    default:
      return operation satisfies never;
  }
}

/** The run that a request creates or streams. Its id is its prompt. */
export function runOf({ operation, head, body }: RawRequest): string {
  if (operation === "create run") return JSON.parse(body).prompt;
  const [, run = ""] = /\/runs\/([^/]*)\/stream /.exec(head) ?? [];
  return decodeURIComponent(run);
}

function correctAnswer(request: RawRequest): Uint8Array {
  const { operation } = request;
  const type = operation === "stream"
    ? "text/event-stream"
    : "application/json";
  const body = correctBody(operation, runOf(request));
  return http("200 OK", { "content-type": type }, body);
}
