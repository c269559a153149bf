/**
 * The log of `--verbose` on standard error: messages and remote calls, never the
 * key, a prompt or a reply.
 *
 * @module
 */

import { type Exchange, ServiceError } from "../gateway.ts";
import { type ByteSink, LineWriter } from "../io.ts";
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

/** What is told about a conversation, each as soon as its outcome is known. */
export interface BridgeLog {
  /** Called for each message of the editor; for a request, after its answer. */
  answered(answered: Answered): void;
  /** Called for each request to the editor. */
  asked(asked: Asked): void;
  /** Called if there is something to tell about the reply to a prompt. */
  noted(noted: { readonly sessionId: string; readonly note: string }): void;
}

/** How long {@linkcode VerboseLog.flush} waits for a reader, in milliseconds. */
const FLUSH_LIMIT = 1000;

/** The most characters of a text of the editor's choice in a log line. */
const MAX_LENGTH = 100;

/** The settings as a log shows them: without the key. */
export interface LoggedSettings {
  readonly baseUrl: string;
  /** The source of each setting. */
  readonly sources: { readonly apiKey: string; readonly baseUrl: string };
}

/** A log that never delays the calls it describes. Each line begins with the time. */
export class VerboseLog implements BridgeLog {
  readonly #output: LineWriter;

  /**
   * @param sink Where the lines go.
   * @param settings Shown in the second line.
   */
  constructor(sink: ByteSink, { baseUrl, sources }: LoggedSettings) {
    this.#output = new LineWriter(sink);
    this.#write(
      `version ${VERSION}, deno ${Deno.version.deno}, ${Deno.build.target}`,
    );
    this.#write(
      `settings: key from ${sources.apiKey}, base URL ${baseUrl} from ${sources.baseUrl}`,
    );
  }

  /** Logs a message of the editor and how it was answered. */
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
    this.#write(
      `${message} id=${
        cut(typeof id === "bigint" ? `${id}` : JSON.stringify(id))
      }${session}: ${outcome}, ${milliseconds.toFixed(0)} ms`,
    );
  }

  /** Logs a request to the editor. */
  asked({ method, sessionId, response, milliseconds }: Asked): void {
    const outcome = response === undefined
      ? "no answer"
      : response.error === undefined
      ? "answered"
      : "error";
    this.#write(
      `asked ${method}${field("session", sessionId)}: ${outcome}, ${
        milliseconds.toFixed(0)
      } ms`,
    );
  }

  /** Logs what is to be told about a reply. */
  noted({ sessionId, note }: Parameters<BridgeLog["noted"]>[0]): void {
    this.#write(`session/prompt${field("session", sessionId)}: ${note}`);
  }

  /** Logs a remote call. */
  exchange(exchange: Exchange): void {
    const { operation, sessionId, runId, status, milliseconds } = exchange;
    const about = field("session", sessionId) + field("run", runId);
    this.#write(
      `${operation}${about}: ${status ?? "no answer"}, ${
        milliseconds.toFixed(0)
      } ms`,
    );
  }

  /** Resolves when the lines are written or cannot be, after a second at most. */
  async flush(): Promise<void> {
    await this.#output.flushWithin(FLUSH_LIMIT);
  }

  #write(text: string): void {
    if (this.#output.hasBacklog) return;
    const time = new Date().toISOString();
    this.#output.write(`agent-gateway ${time} ${plainLine(text)}\n`);
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
