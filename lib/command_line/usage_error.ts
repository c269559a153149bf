import { KEYLESS } from "../text.ts";
import { OPTIONS } from "./option_table.ts";

/** The command line is wrong. The message is one line that names the argument. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const MAX_LENGTH = 200;
const MAX_DISTANCE = 2;

/** The error for an argument that looks like a flag but is not one. */
export function unknownFlag(argument: string): UsageError {
  const flag = nearestFlag(argument);
  return unknown(argument, flag && `did you mean ${flag}?`);
}

/**
 * The error for a word that is not the value of an option.
 *
 * @param hasPrompt Whether there is a prompt, of which it may be a part.
 */
export function unknownWord(word: string, hasPrompt: boolean): UsageError {
  if (hasPrompt) {
    return unknown(word, "a prompt of several words needs quotes");
  }
  if (OPTIONS.some(({ name }) => name === word)) {
    return unknown(word, `did you mean --${word}?`);
  }
  return unknown(word, "to run a prompt: agent-gateway -p TEXT");
}

function unknown(argument: string, advice: string | undefined): UsageError {
  const hint = advice === undefined ? "" : ` (${advice})`;
  return new UsageError(`Unknown argument ${KEYLESS.quote(argument)}${hint}`);
}

function nearestFlag(argument: string): string | undefined {
  const [name = ""] = argument.replace(/^-+/, "").toLowerCase().split("=", 1);
  if (OPTIONS.some((option) => "short" in option && option.short === name)) {
    return `-${name}`;
  }
  if (name.length < 3 || name.length > MAX_LENGTH) return undefined;
  const [nearest] = OPTIONS.map((option) => ({
    flag: `--${option.name}`,
    distance: option.name.startsWith(name)
      ? 0
      : editDistance(name, option.name),
  })).sort((a, b) => a.distance - b.distance);
  const isNear = nearest !== undefined && nearest.distance <= MAX_DISTANCE;
  return isNear ? nearest.flag : undefined;
}

function editDistance(from: string, to: string): number {
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, character] of Array.from(from).entries()) {
    const row = [i + 1];
    for (const [j, other] of Array.from(to).entries()) {
      row.push(Math.min(
        (last[j + 1] ?? Infinity) + 1,
        (row[j] ?? Infinity) + 1,
        (last[j] ?? Infinity) + (character === other ? 0 : 1),
      ));
    }
    last = row;
  }
  return last[to.length] ?? Infinity;
}
