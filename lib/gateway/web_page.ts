/**
 * Web pages in place of an answer: from a proxy, a firewall or a sign-in.
 *
 * @module
 */

import { plainLine } from "../plain_text.ts";

const HTML_TYPE = /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;
const HTML_START = /^\s*<(?:!doctype\s+html|html|head|title)[\s>]/i;

// No part matches a "<", so that each one is scanned once.
const TITLE = /<title(?:\s[^<>]*)?>([^<]*)/i;

const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi;
const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

/** Whether an answer is a web page, by its `Content-Type` or by how its text begins. */
export function isWebPage(contentType: string | null, text = ""): boolean {
  return HTML_TYPE.test(contentType ?? "") || HTML_START.test(text);
}

/** The title of a web page, on one line; empty if it has none. */
export function pageTitle(html: string): string {
  const [, title = ""] = TITLE.exec(html) ?? [];
  const text = title.replace(ENTITY, (entity, decimal, hex, name) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? entity;
    const code = Number.parseInt(
      decimal ?? hex,
      decimal === undefined ? 16 : 10,
    );
    return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
  return plainLine(text).replace(/\s+/g, " ").trim();
}
