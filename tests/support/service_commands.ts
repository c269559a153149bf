/** What the documents say about broken services: a table, and commands with curl. */
import { assertEquals } from "@std/assert";
import { TEST_KEY } from "./service/service.ts";

const DOCS = `${import.meta.dirname}/../../docs`;

const page = await Deno.readTextFile(`${DOCS}/service.md`);

/** The commands: requests, the bytes of the stream, and its comments. */
const [REQUESTS = "", BYTES = "", COMMENTS = ""] =
  (await Deno.readTextFile(`${DOCS}/examples/probe.sh`))
    .split(/^(?=key=|# The bytes|# Comments\.)/m).slice(1);

/** What creates a run. */
const [RUN = ""] = /^.*?^stream=.*?\n/ms.exec(REQUESTS) ?? [];

/** By what is wrong with a service: what names it, a line of the check or a comment. */
export const NAMED_BY: ReadonlyMap<string, string> = new Map(
  Array.from(
    page.matchAll(/^\| (.*?) +\| `((?:failed|note|[^`]*:) [^`]*)` +\|/gm),
    ([, what = "", by = ""]) => [what, by],
  ),
);

/** Commands with another prompt, and with limits that a busy machine does not miss. */
function withPrompt(commands: string, prompt: string): string {
  return commands.replace("Who are you, in a few words?", prompt)
    .replaceAll(/ -m [35] /g, " -m 10 ");
}

/**
 * Runs the commands, with a prompt of as many words as a test has time for. Returns the
 * comments that are not true of a service.
 */
export async function untrue(
  { url }: { readonly url: string },
  prompt = "one two three four five",
): Promise<readonly string[]> {
  // For the last run, there is time until a comment comes.
  const commands = withPrompt(REQUESTS + BYTES, prompt) +
    withPrompt(RUN + COMMENTS, `${prompt} `.repeat(4));
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", commands],
    env: { APP_BASE_URL: url, APP_API_KEY: TEST_KEY },
  }).output();
  const [ids = "", one, two, ...rest] = new TextDecoder().decode(stdout)
    .trimEnd().split("\n");
  // What each command prints, and what that means.
  const meanings = Array.from(
    commands.matchAll(/^[^\n#].*# (.*)$/gm),
    ([, text = ""]) => text,
  );
  const isTrue = [/^(?:[\da-f-]{32,36} ?){3}$/.test(ids), one === two]
    .concat(
      rest.map((text, i) => meanings[i + 2]?.startsWith(`${text}: `) ?? false),
    );
  assertEquals(isTrue.length, meanings.length);
  return meanings.filter((_, index) => !isTrue[index]);
}
