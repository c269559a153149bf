/**
 * The log of `--verbose` on standard error: messages and remote calls, never the
 * key, a prompt or a reply.
 *
 * @module
 */

import { type Exchange, ServiceError } from "../gateway.ts";
import { plainLine } from "../text.ts";
import { VERSION } from "../version.ts";
import type { RequestId, RpcError, RpcResponse } from "./json_rpc.ts";

/** How a message was handled. It contains no prompt and no reply. */
export interface Answered {
  /** `undefined` for a notification, which gets no answer. */
  readonly id?: RequestId;
  /** `undefined` for a line that is not a call. */
  readonly method?: string;
  /** The session that the message names. */
  readonly sessionId?: string | undefined;
  readonly result?: unknown;
  readonly error?: RpcError;
  readonly milliseconds: number;
}

/** How a request to the editor ended. */
export interface Asked {
  readonly method: string;
  readonly sessionId: string;
  /** `undefined` if none was received in time. */
  readonly response: RpcResponse | undefined;
  readonly milliseconds: number;
}

/** What the bridge tells its log: each outcome, as soon as it is known. */
export type BridgeLog = Pick<VerboseLog, "answered" | "asked" | "noted">;

/** The most characters of a text from outside in a log line. */
const MAX_LENGTH = 100;

/** The settings as a log shows them: without the key. */
export interface LoggedSettings {
  readonly baseUrl: string;
  /** The source of each setting. */
  readonly sources: { readonly apiKey: string; readonly baseUrl: string };
}

/** The log. Each line begins with the time. */
export class VerboseLog {
  readonly #writeLine: (line: string) => void;

  /**
   * @param writeLine Writes a line, with its line end, without delaying its caller.
   * @param settings Shown in the second line.
   */
  constructor(
    writeLine: (line: string) => void,
    { baseUrl, sources }: LoggedSettings,
  ) {
    this.#writeLine = writeLine;
    this.#write(
      `version ${VERSION}, deno ${Deno.version.deno}, ${Deno.build.target}`,
    );
    this.#write(
      `settings: key from ${sources.apiKey}, base URL ${baseUrl} from ${sources.baseUrl}`,
    );
  }

  /** Logs a message of the editor; a request after its answer. */
  answered(answered: Answered): void {
    const { id, method, sessionId, result, error, milliseconds } = answered;
    const message = method === undefined ? "invalid line" : cut(method);
    const session = field("session", sessionId);
    if (id === undefined) {
      this.#write(`${message}${session}: notification`);
      return;
    }
    const outcome = error === undefined
      ? cut(JSON.stringify(result))
      : `error ${error.code}, ${shortReason(error)}`;
    const shownId = cut(typeof id === "bigint" ? `${id}` : JSON.stringify(id));
    this.#write(`${message} id=${shownId}${session}: ${outcome}`, milliseconds);
  }

  /** Logs a request to the editor. */
  asked({ method, sessionId, response, milliseconds }: Asked): void {
    const outcome = response === undefined
      ? "no answer"
      : response.error === undefined
      ? "answered"
      : "error";
    const session = field("session", sessionId);
    this.#write(`asked ${method}${session}: ${outcome}`, milliseconds);
  }

  /** Logs the note that came with a reply. */
  noted(sessionId: string, note: string): void {
    this.#write(`session/prompt${field("session", sessionId)}: ${note}`);
  }

  /** Logs a remote call. */
  exchange(exchange: Exchange): void {
    const { operation, sessionId, runId, status, milliseconds } = exchange;
    const about = field("session", sessionId) + field("run", runId);
    this.#write(`${operation}${about}: ${status ?? "no answer"}`, milliseconds);
  }

  #write(text: string, milliseconds?: number): void {
    const time = new Date().toISOString();
    const took = milliseconds === undefined
      ? ""
      : `, ${milliseconds.toFixed(0)} ms`;
    this.#writeLine(`agent-gateway ${time} ${plainLine(text)}${took}\n`);
  }
}

function field(name: string, value: string | undefined): string {
  return value === undefined ? "" : ` ${name}=${cut(value)}`;
}

function cut(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text;
}

/** Why a request failed, without the service's text, which may quote a prompt. */
function shortReason({ cause, message }: RpcError): string {
  if (!(cause instanceof ServiceError)) return message;
  const { operation, threadId, runId, status, reason } = cause.failure;
  const about = field("thread", threadId) + field("run", runId);
  return `${operation}${about}: ${status ?? reason}`;
}
