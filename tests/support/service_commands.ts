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

/** The prompt in the commands. The examples take half a second for each of its words. */
const PROMPT = "Who are you, in a few words?";

/** The comments of commands: what each prints, and what that means. */
function meaningsOf(commands: string): readonly string[] {
  return Array.from(
    commands.matchAll(/^[^\n#].*# (.*)$/gm),
    ([, text = ""]) => text,
  );
}

/** By what is wrong with a service: what names it, a line of the check or a comment. */
export const NAMED_BY: ReadonlyMap<string, string> = new Map(
  Array.from(
    page.matchAll(/^\| (.*?) +\| `((?:failed|note|[^`]*:) [^`]*)` +\|/gm),
    ([, what = "", by = ""]) => [what, by],
  ),
);

async function run(
  commands: string,
  url: string,
  prompt: string,
): Promise<readonly string[]> {
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", commands.replace(PROMPT, prompt)],
    env: { APP_BASE_URL: url, APP_API_KEY: TEST_KEY },
  }).output();
  return new TextDecoder().decode(stdout).trimEnd().split("\n");
}

/**
 * Runs the commands with this prompt, so that a test may take less time. Returns the
 * comments that are not true of a service.
 */
export async function untrue(
  { url }: { readonly url: string },
  prompt = PROMPT,
): Promise<readonly string[]> {
  const meanings = meaningsOf(REQUESTS + BYTES);
  const [ids = "", one, two, ...rest] = await run(
    REQUESTS + BYTES,
    url,
    prompt,
  );
  const isTrue = [/^(?:[\da-f-]{32,36} ?){3}$/.test(ids), one === two]
    .concat(
      rest.map((text, i) => meanings[i + 2]?.startsWith(`${text}: `) ?? false),
    );
  assertEquals(isTrue.length, meanings.length);
  return meanings.filter((_, index) => !isTrue[index]);
}

/** The same for the command about comments. */
export async function untrueOfComments(
  { url }: { readonly url: string },
): Promise<readonly string[]> {
  const [count] = await run(RUN + COMMENTS, url, PROMPT);
  return meaningsOf(COMMENTS).filter((text) => !text.startsWith(`${count}: `));
}
