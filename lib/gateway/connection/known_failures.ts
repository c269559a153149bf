/**
 * The connection failures that this program recognises. Deno reports a failure only as
 * the text of the library that failed, in nested errors. This is the only module of the
 * gateway that reads that text.
 *
 * @module
 */

import type { Redacted, Redactor } from "../../text.ts";
import { portOf } from "../../settings.ts";
import type { Failure } from "../failure/failure.ts";
import { type Phase, type Row, UNKNOWN_ISSUER } from "./connection_rows.ts";
import { SYSTEM_FAULTS, type SystemFault } from "./system_fault.ts";

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
  return UNKNOWN_ISSUER.test(takeApart(error).words);
}

/** A library's text about an error, without the URL and the system's error number. */
export function reasonOf(error: unknown, redactor: Redactor): Redacted {
  const { words, quotation } = takeApart(error);
  return redactor.show(words + quotation);
}

/**
 * Why a connection to a URL could not be made (`CONNECTING`), or why it, or the body of
 * its answer, broke (`CONNECTED`).
 */
export function failureIn(
  phase: Phase,
  error: unknown,
  url: URL,
  redactor: Redactor,
): Failure {
  const text = takeApart(error);
  const row: Partial<Row> = find(phase.rows, text) ?? {};
  const { stage = phase.stage, reason = phase.otherwise, advice, isFinal } =
    row;
  const { problem = "connection lost" } = row;
  const match = row.text?.exec(text.words) ?? [];
  const about = {
    match: match.map((part) => redactor.show(part)),
    text: reasonOf(error, redactor),
    quotation: redactor.show(text.quotation),
    origin: redactor.show(url.origin),
    host: redactor.show(url.host),
    hostname: redactor.show(url.hostname),
    port: portOf(url),
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
): Row | undefined {
  const bySystem = fault && rows.find((row) => row.fault === fault);
  return bySystem ?? rows.find(({ text }) => text.test(words));
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
