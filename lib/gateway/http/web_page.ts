import { type Redacted, type Redactor, safe } from "../../text.ts";

const HTML_TYPE = /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;
const HTML_START = /^\s*<(?:!doctype\s+html|html|head|title)[\s>]/i;

const MARKUP = /<[a-z\/!?]/i;

// Once it has begun, a match has no further "<", so a page is scanned only once.
const TITLE = /<title(?:\s[^<>]*)?>([^<]*)/i;

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

export function pageTitle(html: string): string {
  return TITLE.exec(html)?.[1] ?? "";
}

/** The reason why a web page with status 2xx cannot be used, with the page's title. */
export function webPageReason(
  status: number,
  text: string,
  redactor: Redactor,
): Redacted {
  const title = redactor.show(pageTitle(text));
  const name = title && safe` ("${title}")`;
  return safe`The service answered ${status} with a web page${name}, perhaps the sign-in page of a network or proxy`;
}
