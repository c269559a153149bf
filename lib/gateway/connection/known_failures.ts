/**
 * The connection failures that this program recognises. Deno reports a failure only as
 * the text of the library that failed, in nested errors. This is the only module of the
 * gateway that reads that text.
 *
 * @module
 */

import { type Redacted, type Redactor, safe } from "../../text.ts";
import { portOf } from "../../settings.ts";
import type { Failure } from "../failure/failure.ts";
import type { Stage } from "../failure/fate.ts";
import { SYSTEM_FAULTS, type SystemFault } from "../failure/system_fault.ts";
import {
  CONNECTED_ROWS,
  CONNECTING_ROWS,
  type Row,
  type ShownUrl,
} from "./connection_rows.ts";

/**
 * A library's text about a failure, taken apart from its beginning. A peer chooses what
 * is quoted, so only the other parts decide anything.
 */
interface LibraryText {
  /** What the operating system said, if it was asked. */
  readonly fault: SystemFault | undefined;
  /** What failed, in the words of hyper: `Connect`, `SendRequest`. */
  readonly kind: string | undefined;
  /** The library's own words. */
  readonly words: string;
  /** The rest, from the first quotation on: names of a certificate, debug data. */
  readonly quotation: string;
}

/** The rows for failures before or after a connection was made, and their usual stage. */
interface Phase {
  readonly rows: readonly Row[];
  readonly stage: Stage;
}

const CONNECTING: Phase = { rows: CONNECTING_ROWS, stage: "not sent" };
const CONNECTED: Phase = { rows: CONNECTED_ROWS, stage: "perhaps taken" };

/** How Deno begins its texts about requests. The URL in them contains no space. */
const REQUEST = /^error sending request .*?: client error \((\w+)\): /;

/** Texts of Deno's own about a connection that was not made. */
const NOT_MADE = /^(?:Too many open files|Requires net access )/;

/** Whether an error of `fetch` says that no connection was made. */
export function isNotConnected(error: unknown): boolean {
  const { kind, words } = takeApart(error);
  return kind === "Connect" || kind === undefined && NOT_MADE.test(words);
}

/** Whether an error says that the program has no descriptor left. */
export function isOutOfFiles(error: unknown): boolean {
  return takeApart(error).fault === "no descriptors";
}

/** Whether an error says that the issuer of a certificate is not trusted. */
export function isUnknownIssuer(error: unknown): boolean {
  const text = takeApart(error);
  const [row] = find(CONNECTING_ROWS, text) ?? [];
  return row?.isUnknownIssuer === true;
}

/**
 * Why there is no connection to a URL: an error of connecting, or of the TLS handshake.
 * The reason is no sentence: it follows "cannot be reached", in parentheses.
 */
export function whyNotConnected(
  error: unknown,
  url: URL,
  redactor: Redactor,
): Failure {
  const text = takeApart(error);
  return failureBy(CONNECTING, text, url, redactor) ?? {
    stage: CONNECTING.stage,
    problem: "connection lost",
    reason: redactor.show(text.words + text.quotation),
  };
}

/** Why a connection to a URL, or the body of its answer, broke. */
export function whyBroken(
  error: unknown,
  url: URL,
  redactor: Redactor,
): Failure {
  const text = takeApart(error);
  const found = redactor.show(text.words + text.quotation);
  return failureBy(CONNECTED, text, url, redactor) ?? {
    stage: CONNECTED.stage,
    problem: "connection lost",
    reason: safe`The connection to ${
      redactor.show(url.origin)
    } broke (${found})`,
  };
}

/** A library's text about an error, without the URL and the system's error number. */
export function reasonOf(error: unknown, redactor: Redactor): Redacted {
  const { words, quotation } = takeApart(error);
  return redactor.show(words + quotation);
}

function failureBy(
  phase: Phase,
  text: LibraryText,
  url: URL,
  redactor: Redactor,
): Failure | undefined {
  const found = find(phase.rows, text);
  if (found === undefined) return undefined;
  const [row, match] = found;
  const { stage = phase.stage, reason, advice, isFinal } = row;
  const { problem = "connection lost" } = row;
  const about = {
    match: match.map((part) => redactor.show(part)),
    url: shown(url, redactor),
    quotation: redactor.show(text.quotation),
    redactor,
  };
  return {
    stage,
    reason: typeof reason === "string" ? reason : reason(about),
    advice: typeof advice === "function" ? advice(about) : advice,
    problem: isFinal ? undefined : problem,
  };
}

function find(
  rows: readonly Row[],
  { fault, words }: LibraryText,
): readonly [Row, readonly string[]] | undefined {
  const bySystem = fault && rows.find((row) => row.fault === fault);
  if (bySystem !== undefined) return [bySystem, []];
  for (const row of rows) {
    const match = row.text.exec(words);
    if (match !== null) return [row, match];
  }
  return undefined;
}

function takeApart(error: unknown): LibraryText {
  const text = messageOf(error);
  const [start = "", kind] = REQUEST.exec(text) ?? [];
  const [end = "", number = ""] = / \(os error (\d+)\)$/.exec(text) ?? [];
  const rest = text.slice(start.length, text.length - end.length);
  const [words = ""] = /^.*?(?= \(b"|"|$)/s.exec(rest) ?? [];
  const fault = faultOf(error) ?? SYSTEM_FAULTS[Number(number)];
  return { fault, kind, words, quotation: rest.slice(words.length) };
}

/** What the class of an error says: one that has no number in its text. */
function faultOf(error: unknown): SystemFault | undefined {
  if (error instanceof Deno.errors.TimedOut) return "silent";
  if (error instanceof Deno.errors.UnexpectedEof) return "reset";
  return undefined;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function shown(url: URL, redactor: Redactor): ShownUrl {
  const { origin, host, hostname } = url;
  return {
    origin: redactor.show(origin),
    host: redactor.show(host),
    hostname: redactor.show(hostname),
    port: portOf(url),
  };
}
