import {
  containsNul,
  membersOf,
  type Redacted,
  type Redactor,
  safe,
  type Unchanged,
  unchanged,
  withoutLineEnd,
} from "../text.ts";
import { invalidParams } from "./json_rpc.ts";
import { titleIn } from "./session_title.ts";

export interface PromptContent {
  /** Not blank. Each reference is replaced by `[name](uri)`. */
  readonly text: Unchanged;
  readonly references: readonly Reference[];
  /** The title of a session that begins with this prompt, if its text says something. */
  readonly title: string | undefined;
}

interface Reference {
  readonly name: string;
  /** Its name in a title: that of a URI without query and fragment. */
  readonly label: string;
  readonly uri: string;
  /** The text that came with the prompt; `undefined` for a link. */
  readonly text: string | undefined;
}

/**
 * Checks the `prompt` of `session/prompt`: a string, or an array of content
 * blocks. Adjacent `text` blocks are joined with `\n`; empty ones do not count. A
 * reference is not put on a line of its own, because clients send a mention within
 * a sentence this way; but it does not touch its neighbours, which could change
 * what it is (`!` before a link makes it an image).
 *
 * @throws {RpcError} Invalid params. The message says what is wrong.
 */
export function parsePrompt(
  prompt: unknown,
  redactor: Redactor,
): PromptContent {
  const given = typeof prompt === "string"
    ? [{ type: "text", text: prompt }]
    : prompt;
  if (!Array.isArray(given)) {
    throw invalidParams(
      safe`prompt is not a string or an array of content blocks`,
    );
  }
  const blocks = given.map((block) => parseBlock(block, redactor))
    .filter((block) => block !== "");
  const text = join(blocks, ({ name, uri }) => `[${name}](${uri})`);
  if (text.trim() === "") throw invalidParams(safe`prompt contains no text`);
  const references = blocks.filter((block) => typeof block !== "string");
  const contents = references.map((reference) => reference.text ?? "");
  if ([text, ...contents].some(containsNul)) {
    throw invalidParams(safe`prompt contains a NUL character`);
  }
  const title = titleIn(join(blocks, ({ label }) => label));
  return { text: unchanged(text), references, title };
}

/** Joins blocks to one text in which each reference is shown by a function. */
function join(
  blocks: readonly (string | Reference)[],
  show: (reference: Reference) => string,
): string {
  const pieces: string[] = [];
  for (const [index, block] of blocks.entries()) {
    const previous = blocks[index - 1];
    if (previous !== undefined) pieces.push(between(previous, block));
    pieces.push(typeof block === "string" ? block : show(block));
  }
  return pieces.join("");
}

const MAY_PRECEDE_LINK = /^[\s("']$/;
const MAY_FOLLOW_LINK = /^[\s.,;:?!)"']$/;

/** What separates two blocks. */
function between(left: string | Reference, right: string | Reference): string {
  if (typeof left === "string" && typeof right === "string") return "\n";
  const mayTouch = typeof right === "string"
    ? MAY_FOLLOW_LINK.test(right.charAt(0))
    : typeof left === "string" && MAY_PRECEDE_LINK.test(left.slice(-1));
  return mayTouch ? "" : " ";
}

/**
 * The URIs of the links. Also those of which a resource came: Qt Creator
 * sends a file as a link, and the state of its editor as a resource of the same URI.
 */
export function linksIn({ references }: PromptContent): readonly string[] {
  return references.filter(({ text }) => text === undefined)
    .map(({ uri }) => uri);
}

/**
 * The whole text of a prompt: the user's text, then the contents of the references,
 * each in a `<context>` element of its own, and the same one only once.
 *
 * @param linked The texts of links by their URIs. Other links stay links.
 */
export function promptText(
  { text, references }: PromptContent,
  linked: ReadonlyMap<string, string>,
): Unchanged {
  const contexts = new Set<string>();
  for (const { uri, text: embedded } of references) {
    const content = embedded ?? linked.get(uri);
    if (content === undefined) continue;
    contexts.add(
      `\n\n<context uri="${uri}">\n${withoutLineEnd(content)}\n</context>`,
    );
  }
  return unchanged([text, ...contexts].join(""));
}

function parseBlock(block: unknown, redactor: Redactor): string | Reference {
  const { type, text, name, uri, resource } = membersOf(block);
  switch (type) {
    case "text":
      return stringIn(text, safe`the text of a text block`);
    case "resource": {
      const { uri, text, blob } = membersOf(resource);
      const names = namesOf(
        name,
        stringIn(uri, safe`the uri of a resource block`),
      );
      if (typeof blob === "string" && text === undefined) {
        const file = redactor.quote(names.name);
        throw invalidParams(safe`this agent takes no binary files: ${file}`);
      }
      return {
        ...names,
        text: stringIn(text, safe`the text of a resource block`),
      };
    }
    case "resource_link":
      return {
        ...namesOf(name, stringIn(uri, safe`the uri of a resource_link block`)),
        text: undefined,
      };
    case "image":
      throw invalidParams(safe`this agent takes no images`);
    case "audio":
      throw invalidParams(safe`this agent takes no audio`);
    default: {
      const name = redactor.quote(stringIn(type, safe`the type of a block`));
      throw invalidParams(
        safe`content blocks of type ${name} are not supported`,
      );
    }
  }
}

function stringIn(value: unknown, what: Redacted): string {
  if (typeof value === "string") return value;
  throw invalidParams(safe`${what} is not a string`);
}

/** A block's name, else the last part of its URI. */
function namesOf(name: unknown, uri: string): Omit<Reference, "text"> {
  const isNamed = typeof name === "string" && name.trim() !== "";
  return {
    name: isNamed ? name : lastPart(uri),
    label: isNamed ? name : lastPart(uri.replace(/[?#].*/s, "")),
    uri,
  };
}

/** The last part of a URI, decoded unless that yields a NUL. */
function lastPart(uri: string): string {
  let end = uri.length;
  while (end > 0 && uri[end - 1] === "/") end--;
  const last = uri.slice(uri.lastIndexOf("/", end - 1) + 1, end);
  try {
    const decoded = decodeURIComponent(last);
    return containsNul(decoded) ? last : decoded;
  } catch {
    return last; // A malformed escape: the part is used undecoded.
  }
}
