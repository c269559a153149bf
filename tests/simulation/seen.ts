/**
 * What the users have seen of each prompt, read from what the program wrote.
 *
 * @module
 */

import type { Editor, Script, Sent } from "./users.ts";

/** What a user has seen of one prompt. */
export interface Seen {
  readonly prompt: string;
  readonly sessionId: string | undefined;
  readonly begunAt: number;
  readonly endedAt: number;
  /** When the user asked for its cancellation. */
  readonly cancelledAt: number | undefined;
  /** The nodes of the progress: a run, and the position of an event. */
  readonly nodes: readonly (readonly string[])[];
  readonly replies: readonly string[];
  /** When the last of these was shown. */
  readonly shownAt: number | undefined;
  /** `undefined` if the user has heard of no end. */
  readonly end: "reply" | "failed" | "cancelled" | undefined;
  readonly message: string;
  /** As told in a field of JSON; else as the words have it. */
  readonly fate: string | undefined;
}

/** Something that a user is shown. */
interface Shown {
  readonly at: number;
  readonly type: string;
  readonly text: string;
  readonly fate?: string | undefined;
}

/** What an editor has seen of its prompts, except those that the bridge rejected. */
export function seenByEditor(user: Editor, now: number): Seen[] {
  const prompts = user.sent.filter((sent) =>
    sent.prompt !== undefined && !isRejected(sent)
  );
  const updates = updatesOf(user, prompts);
  return prompts.map((request) => {
    const { prompt = "", sessionId, id, at, answer, cancelledAt } = request;
    const message = String(answer?.error?.message ?? "");
    const stopReason = answer?.result?.stopReason;
    const isCancelled = stopReason === "cancelled" ||
      cancelledAt !== undefined;
    const failure = answer?.error && "failed" as const;
    const other = isCancelled ? "cancelled" : failure;
    return {
      prompt,
      sessionId,
      begunAt: at,
      endedAt: answer?.at ?? now,
      cancelledAt,
      ...progressIn(updates.filter((update) => update.promptId === id)),
      end: stopReason === "end_turn" ? "reply" : other,
      message,
      fate: fateIn(message),
    };
  });
}

/** Whether the bridge itself rejects it: invalid request, unknown session, bad params. */
export function isRejected({ answer }: Sent): boolean {
  return [-32600, -32002, -32602].includes(answer?.error?.code);
}

/** The types of {@linkcode Shown}, by those of updates. */
const TYPES: Readonly<Record<string, string>> = {
  agent_thought_chunk: "progress",
  agent_message_chunk: "reply",
};

/**
 * The updates, with the prompts that they are of: the first of their session that is not
 * answered. What is sent once more, when a session is loaded, has the `messageId` of the
 * first time.
 */
function updatesOf(
  { received }: Editor,
  prompts: readonly Sent[],
): (Shown & { readonly promptId: number })[] {
  const replies = new Set<unknown>();
  const answered = new Set<unknown>();
  return received.flatMap(({ id, at, method, params }) => {
    if (method === undefined) answered.add(id);
    const type = TYPES[params?.update?.sessionUpdate];
    if (type === undefined) return [];
    const { sessionId, update } = params;
    const prompt = prompts.find((sent) =>
      sent.sessionId === sessionId && sent.at <= at && !answered.has(sent.id)
    );
    if (prompt === undefined || replies.has(update.messageId)) return [];
    if (type === "reply") replies.add(update.messageId);
    return [{ at, type, text: update.content.text, promptId: prompt.id }];
  });
}

/** What a script has seen of its prompts, as far as it came. */
export function seenByScript({ plan, lines }: Script, now: number): Seen[] {
  const rest = lines.map(plan.json ? jsonEvent : plainEvent);
  let begunAt = 0;
  const all: Seen[] = [];
  for (const prompt of plan.prompts) {
    const count = rest.findIndex(isEnd) + 1;
    const own = rest.splice(0, count || rest.length);
    const end = own.find(isEnd);
    const message = end?.type === "error" ? end.text : "";
    all.push({
      prompt,
      sessionId: undefined,
      begunAt,
      endedAt: end?.at ?? now,
      cancelledAt: undefined,
      ...progressIn(own),
      end: end && (end.type === "reply" ? "reply" : "failed"),
      message,
      fate: end?.fate ?? fateIn(message),
    });
    if (end === undefined || message !== "" && !plan.isPiped) break;
    begunAt = end.at;
  }
  return all;
}

function isEnd({ type }: Shown): boolean {
  return type === "reply" || type === "error";
}

type Line = Script["lines"][number];

function jsonEvent({ at, text: line, isError }: Line): Shown {
  if (isError) return { at, type: "other", text: line };
  const { type, node, message, text, fate } = JSON.parse(line);
  return { at, type, text: node ?? message ?? text, fate };
}

const ERROR = /^agent-gateway: error: (?:Prompt \d+(?: on thread \S+)?: )?(.*)/;

function plainEvent({ at, text, isError }: Line): Shown {
  if (!isError) return { at, type: "reply", text };
  const [, error] = ERROR.exec(text) ?? [];
  if (error !== undefined) return { at, type: "error", text: error };
  const isProgress = /^r\d+\.\d+: works$/.test(text);
  return { at, type: isProgress ? "progress" : "other", text };
}

function progressIn(
  shown: readonly Shown[],
): Pick<Seen, "nodes" | "replies" | "shownAt"> {
  const texts = (kind: string) =>
    shown.filter(({ type }) => type === kind).map(({ text }) => text);
  return {
    nodes: texts("progress").map((text) => text.split(/[.:]/)),
    replies: texts("reply"),
    shownAt: shown.at(-1)?.at,
  };
}

function fateIn(message: string): string | undefined {
  if (message.includes("did not run")) return "not run";
  if (/may have (run|started)/.test(message)) return "may have run";
  return message.includes("may still continue") ? "may go on" : undefined;
}
