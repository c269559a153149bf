/**
 * What the users have seen of each prompt, read from what the program wrote.
 *
 * @module
 */

import type { Editor, Message, Script, Sent } from "./users.ts";

/** What a user has seen of one prompt. */
export interface Seen {
  readonly prompt: string;
  readonly begunAt: number;
  readonly endedAt: number;
  /** When the user asked for its cancellation. */
  readonly cancelledAt: number | undefined;
  readonly nodes: readonly string[];
  readonly replies: readonly string[];
  /** `undefined` if the user has heard of no end. */
  readonly end: "reply" | "failed" | "cancelled" | undefined;
  readonly message: string;
  /** As told in a field of JSON; else as the words have it. */
  readonly fate: string | undefined;
}

export function seenBy(user: Script | Editor, now: number): readonly Seen[] {
  return user.kind === "editor"
    ? seenByEditor(user, now)
    : seenByScript(user, now);
}

/** What an editor has seen of its prompts, except those that the bridge rejected. */
function seenByEditor(user: Editor, now: number): Seen[] {
  const prompts = user.sent.filter((sent) =>
    sent.method === "session/prompt" && !isRejected(sent)
  );
  const updates = updatesOf(user, prompts);
  return prompts.map(({ prompt = "", id, at, answer }) => {
    const text = (kind: string) =>
      (updates.get(id) ?? [])
        .filter(({ sessionUpdate }) => sessionUpdate === kind)
        .map(({ content }) => String(content.text));
    const message = String(answer?.error?.message ?? "");
    return {
      prompt,
      begunAt: at,
      endedAt: answer?.at ?? now,
      cancelledAt: user.cancelled.get(id),
      nodes: text("agent_thought_chunk").map(nodeIn),
      replies: text("agent_message_chunk"),
      end: endOf(user, id, answer),
      message,
      fate: fateIn(message),
    };
  });
}

/** Whether the bridge itself rejects it: invalid request, unknown session, bad params. */
export function isRejected({ answer }: Sent): boolean {
  return [-32600, -32002, -32602].includes(answer?.error?.code);
}

function endOf(
  { cancelled }: Editor,
  id: number,
  answer: Message | undefined,
): Seen["end"] {
  const stopReason = answer?.result?.stopReason;
  if (stopReason === "end_turn") return "reply";
  if (stopReason === "cancelled" || cancelled.has(id)) return "cancelled";
  return answer?.error === undefined ? undefined : "failed";
}

/**
 * The updates of each prompt, by its id: they are those of the first prompt of their
 * session that is not answered. What is sent once more, when a session is loaded, has
 * the `messageId` of the first time.
 */
function updatesOf(
  { received }: Editor,
  prompts: readonly Sent[],
): ReadonlyMap<number, Message["params"][]> {
  const known = new Set<unknown>();
  const answered = new Set<unknown>();
  const updates = new Map<number, Message["params"][]>();
  for (const { id, at, method, params } of received) {
    if (method === undefined) answered.add(id);
    if (method !== "session/update") continue;
    const { sessionId, update } = params;
    const { sessionUpdate, messageId } = update;
    const isAgain = sessionUpdate === "agent_message_chunk" &&
      known.has(messageId);
    known.add(messageId);
    const prompt = prompts.find((sent) =>
      sent.sessionId === sessionId && sent.at <= at && !answered.has(sent.id)
    );
    if (prompt === undefined || isAgain) continue;
    updates.set(prompt.id, [...updates.get(prompt.id) ?? [], update]);
  }
  return updates;
}

function seenByScript(user: Script, now: number): Seen[] {
  let rest = user.plan.json ? jsonEvents(user) : plainEvents(user);
  let begunAt = 0;
  const all: Seen[] = [];
  for (const prompt of user.prompts) {
    const last = rest.findIndex(({ type }) =>
      type === "reply" || type === "error"
    );
    const end = rest[last];
    const own = last < 0 ? rest : rest.slice(0, last + 1);
    rest = rest.slice(own.length);
    const endedAt = end?.at ?? now;
    const text = (type: string) =>
      own.filter((event) => event.type === type).map(({ text }) => text);
    all.push({
      prompt,
      begunAt,
      endedAt,
      cancelledAt: undefined,
      nodes: text("progress").map(nodeIn),
      replies: text("reply"),
      end: end && (end.type === "reply" ? "reply" : "failed"),
      message: text("error").join(),
      fate: end?.fate,
    });
    begunAt = endedAt;
    if (end === undefined || end.type === "error" && !user.plan.isPiped) break;
  }
  return all;
}

export interface ScriptEvent {
  readonly at: number;
  readonly type: string;
  readonly text: string;
  readonly fate: string | undefined;
  readonly status: number | undefined;
}

export function jsonEvents({ lines }: Script): ScriptEvent[] {
  return lines.filter(({ isError }) => !isError).map(({ at, text: line }) => {
    const { type, node, message, text, fate, status } = JSON.parse(line);
    return { at, type, text: node ?? message ?? text, fate, status };
  });
}

const ERROR = /^agent-gateway: error: (?:Prompt \d+(?: on thread \S+)?: )?(.*)/;

function plainEvents({ lines }: Script): ScriptEvent[] {
  return lines.map(({ at, text, isError }) => {
    const usual = { at, text, fate: undefined, status: undefined };
    if (!isError) return { ...usual, type: "reply" };
    const [, error] = ERROR.exec(text) ?? [];
    if (error !== undefined) {
      return { ...usual, type: "error", text: error, fate: fateIn(error) };
    }
    const isProgress = /^r\d+\.\d+: works$/.test(text);
    return { ...usual, type: isProgress ? "progress" : "other" };
  });
}

function nodeIn(text: string): string {
  return text.split(":")[0] ?? "";
}

function fateIn(message: string): string | undefined {
  if (message.includes("did not run")) return "not run";
  if (/may have (run|started)/.test(message)) return "may have run";
  return message.includes("may still continue") ? "may go on" : undefined;
}
