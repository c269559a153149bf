/**
 * Finds words for an error message in an answer that cannot be used: the service's
 * own, or the title of a web page that a proxy, a firewall or a network has sent.
 *
 * @module
 */

import { isJsonObject, textIn } from "../../text.ts";

/** The text of an answer, and whether it was cut. */
export interface LimitedText {
  readonly text: string;
  readonly cut: boolean;
}

/** The fields that services put the reason of a failure into, in their order. */
const REASONS = {
  names: [
    ...["message", "error", "detail", "errors", "title"],
    "errortext", // AI SDK
    "msg", // an entry of FastAPI's `detail`
    "data", // the payload of an event
  ],
  separator: ", ",
};

/** The reason that a JSON value gives for a failure; `undefined` if it gives none. */
export function errorDetail(body: unknown): string | undefined {
  const text = isJsonObject(body) ? textIn(body, REASONS) : "";
  return text === "" ? undefined : text;
}

const HTML_TYPE = /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;
const HTML_START = /^\s*<(?:!doctype\s+html|html|head|title)[\s>]/i;

const MARKUP = /<[a-z\/!?]/i;

// Once it has begun, a match has no further "<", so a page is scanned only once.
const TITLE = /<title(?:\s[^<>]*)?>([^<]*)/i;

/** Whether a `Content-Type` is that of a web page. */
export function isHtml(contentType: string | null): boolean {
  return HTML_TYPE.test(contentType ?? "");
}

/**
 * Whether an answer is a web page: it begins like one, or its type is that of one
 * and it has markup. (Express sends plain words as `text/html`, too.)
 */
export function isWebPage(contentType: string | null, text: string): boolean {
  return HTML_START.test(text) || isHtml(contentType) && MARKUP.test(text);
}

/** The title of a web page, as it is written; empty if it has none. */
export function pageTitle(html: string): string {
  return TITLE.exec(html)?.[1] ?? "";
}
