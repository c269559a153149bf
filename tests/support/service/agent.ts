/** One step of a run, sent as a `progress` event. */
export interface Step {
  readonly node: string;
  readonly status: string;
}

/** The agent's steps and reply for a prompt. */
export interface Outcome {
  readonly steps: readonly Step[];
  readonly reply: string;
}

/** The longest list that `count to N` yields. */
const COUNT_LIMIT = 10_000;

/**
 * Runs a prompt through a small, deterministic agent.
 *
 * | prompt | reply |
 * | --- | --- |
 * | `hello`, `hi` (and any words after it) | a greeting |
 * | `what did I say before?`, anything with `did I say`, `did I ask` or `remember` | the earlier prompts of the thread, numbered |
 * | `6 * 7`, `what is 6 * 7?`, with `+`, `-` or `*` | the sum worked out |
 * | `count to 3` | one number a line, 10,000 at most |
 * | anything else | `You said: ` and the prompt |
 *
 * @param prompt The user's text.
 * @param earlier The thread's prompts before this one, oldest first.
 */
export function think(prompt: string, earlier: readonly string[]): Outcome {
  return {
    steps: [
      { node: "plan", status: "started" },
      { node: "recall", status: recalled(earlier.length) },
      { node: "write", status: "started" },
      { node: "write", status: "done" },
    ],
    reply: reply(prompt.trim(), earlier),
  };
}

function recalled(count: number): string {
  if (count === 0) return "no earlier prompt";
  return count === 1 ? "1 earlier prompt" : `${count} earlier prompts`;
}

function reply(prompt: string, earlier: readonly string[]): string {
  if (/^(hello|hi)\b/i.test(prompt)) {
    return "Hello! I am the-brain. Ask me something, or what you said before.";
  }
  if (/\bdid i (say|ask)\b|\bremember\b/i.test(prompt)) {
    if (earlier.length === 0) return "Nothing yet: this thread is new.";
    const list = earlier.map((said, index) => `${index + 1}. ${said}`);
    return `Earlier on this thread you said:\n${list.join("\n")}`;
  }
  const count = /^count to (\d+)$/i.exec(prompt);
  if (count) {
    const length = Math.min(Number(count[1]), COUNT_LIMIT);
    return Array.from({ length }, (_, index) => index + 1).join("\n");
  }
  const sum = /^(?:what is )?(-?\d+) *([-+*]) *(-?\d+) *\??$/i.exec(prompt);
  if (sum) {
    const [, left = "", operator = "", right = ""] = sum;
    const result = calculate(BigInt(left), operator, BigInt(right));
    return `${left} ${operator} ${right} = ${result}`;
  }
  return `You said: ${prompt}`;
}

function calculate(left: bigint, operator: string, right: bigint): bigint {
  if (operator === "+") return left + right;
  return operator === "-" ? left - right : left * right;
}
