import { assert, assertEquals } from "@std/assert";

const ROOT = `${import.meta.dirname}/../..`;
const SECURITY = await Deno.readTextFile(`${ROOT}/SECURITY.md`);

/** The tests of each promise of SECURITY.md; `...` stands for what differs between them. */
// deno-fmt-ignore: a table, one test a line
const TESTS: readonly (readonly [promise: number, file: string, test: string])[] = [
  [1, "tests/program/key_test.ts", "the key reaches no origin but the configured one, and no URL and no body"],
  [2, "tests/program/key_test.ts", "a key that a service echoes, whole or cut, is left out in each mode"],
  [2, "tests/lib/text/redactor_test.ts", "of 5,544 echoes of a key, at most eleven characters in a row are shown"],
  [2, "tests/lib/text/redactor_test.ts", "whatever a text holds, at most eleven characters of the key in a row are shown"],
  [3, "tests/lib/text/redactor_test.ts", "a key shorter than twelve characters is left out as a whole, in any case, from six characters on"],
  [4, "tests/lib/text/redactor_test.ts", "texts are shown clean on one line, names as they are, and both bounded, in whole characters, without pieces of the key"],
  [5, "tests/lib/gateway_test.ts", "the id ... cannot be used (interface 7)"],
  [5, "tests/lib/text/redactor_test.ts", "isInId() finds the whole key in any case, also where an id is cleaned, and no piece of it"],
  [6, "tests/program/key_test.ts", "the command line and the title of the process do not hold the key"],
  [7, "tests/program/verbose_test.ts", "--verbose tells requests and remote calls, never a key, a prompt or a reply"],
  [8, "tests/program/check_test.ts", "--check tells each step with its time, and creates a thread but no run: exit 0"],
  [8, "tests/program/check_test.ts", "--check tries the proxy in between, and shows neither its user nor its password"],
  [8, "tests/program/check_test.ts", "--check with a key that is rejected: exit 1, and the line holds no control character and no key"],
  [9, "tests/lib/settings_test.ts", "loadSettings() refuses the key ... without showing it"],
  [9, "tests/lib/settings_test.ts", "loadSettings() does not show the base URL that it refuses"],
  [10, "tests/program/standard_streams_test.ts", "... ends the program with one line without its message, exit 1"],
  [11, "tests/support/client_process.ts", "the output has a piece of the key"],
  [12, "tests/lib/bridge/session_prompt_test.ts", "nothing is asked of a client that does not offer to read files; its last initialize counts"],
  [13, "tests/lib/bridge/attached_files_test.ts", "filePath() is the path of a file on the client's machine"],
  [13, "tests/lib/bridge/attached_files_test.ts", "readAttachedFiles() asks for one file after the other, and for each one once"],
  [14, "tests/lib/bridge/attached_files_test.ts", "readAttachedFiles() leaves out a file for which it gets an error, nothing, or no text"],
  [14, "tests/program/bridge_mode_test.ts", "of a file of 100 MiB the agent is told that it was not read, and the prompt runs"],
  [15, "tests/lib/bridge/transcripts_test.ts", "a transcript keeps 1 MiB of UTF-8, and drops the oldest messages first"],
  [15, "tests/lib/bridge/transcripts_test.ts", "Transcripts keep 16 MiB, of those that were used last"],
  [16, "tests/lib/bridge/attached_files_test.ts", "readAttachedFiles() continues after 10 s with the files read so far"],
  [16, "tests/lib/bridge/session_prompt_test.ts", "linked files are read when the prompt begins, and a cancellation takes back what is asked"],
  [17, "tests/lib/settings_test.ts", "loadSettings() refuses a base URL: ..."],
  [18, "tests/program/networks_test.ts", "...: one line says so, and the service sees nothing"],
  [19, "tests/program/networks_test.ts", "an ... proxy gets its login, the service's name and ciphertext, and the service nothing of it"],
  [19, "tests/lib/settings/proxy_test.ts", "takeProxy() refuses ..., and does not show it: ..."],
  [19, "tests/lib/gateway/connection/login_listener_test.ts", "LoginListener lets nobody in without its password, which is another one each time"],
  [20, "tests/program/networks_test.ts", "... is reached by ... tunnels with ... and a proxy in each variable"],
  [19, "tests/program/permissions_test.ts", "SECURITY.md: without ..., whatever proxy is set, the key and the login of the proxy reach nobody else"],
  [20, "tests/program/permissions_test.ts", "SECURITY.md: without a relay and the proxy variables, an https: service is refused, and an http: one reached directly"],
  [21, "tests/lib/settings/dotenv_file_test.ts", ".env: ... never chooses where the key of the environment goes"],
  [22, "tests/lib/settings/dotenv_file_test.ts", ".env: nothing is exported into the process"],
  [23, "tests/lib/settings/dotenv_file_test.ts", ".env: whatever it contains, the settings are usable or a SettingsError says why not"],
  [23, "tests/lib/settings/dotenv_file_test.ts", ".env: ... is an error that does not show the value: ..."],
  [23, "tests/program/start_up_test.ts", "... warns of a .env that is a pipe, and does not wait for it"],
  [24, "tests/lib/text/redactor_test.ts", "takes linear time, whatever key and text hold"],
  [24, "tests/lib/linear_time_test.ts", "...() takes linear time for ... characters that begin with ..."],
  [25, "tests/project/bundle_test.ts", "clientPermissionFlags are network, the named variables, .env, certificates and no prompt"],
  [26, "tests/program/hostile_text_test.ts", "replies go through a pipe byte for byte; progress and errors are a clean line each on standard error (interface 1, Interactive mode rules 4)"],
  [26, "tests/program/hostile_text_test.ts", "the bridge hands replies and progress on as they are, escaped as JSON, and errors clean (interface 6)"],
  [27, "tests/lib/gateway_test.ts", "each path begins with the base URL's path, and ids are percent-encoded in it"],
  [28, "tests/lib/interactive/open_view_test.ts", "JsonView writes a line for each event, or nothing, and no internal field"],
  [28, "tests/lib/text/foreign_text_test.ts", "jsonLine() escapes what JSON leaves, a long line in parts of 64 KiB, and the value stays the same"],
  [29, "tests/terminal/display_test.ts", "text from the service cannot command the terminal"],
  [30, "tests/lib/interactive/event_lines_test.ts", "linesAbout() quotes the id of the thread to go on with for the shell"],
  [31, "tests/terminal/editing_test.ts", "on ... columns, a paste is shown, not sent, and undone at once"],
  [32, "tests/lib/text/plain_text_test.ts", "plainText() leaves no control character of any text"],
  [32, "tests/lib/interactive/write_reply_test.ts", "writeReply() shows on a terminal what plainText() leaves of a reply, whatever it holds"],
  [32, "tests/lib/markdown_test.ts", "styleMarkdown() adds SGR sequences alone, and none is on at the end of a line"],
  [33, "tests/lib/markdown_test.ts", "styleMarkdown() takes linear time for hostile text"],
  [34, "tests/program/standard_streams_test.ts", "standard error that nobody reads holds up neither a run nor ...: interactive mode exits with ..."],
  [34, "tests/program/standard_streams_test.ts", "bridge mode with a log that nobody reads ends with the input: exit 0"],
  [35, "tests/lib/io/error_output_test.ts", "ErrorOutput drops progress while more than 1 MiB waits, and nothing else"],
  [36, "tests/lib/io/lines_test.ts", "readEachLine() holds no bytes of a long line after it"],
  [37, "tests/program/fault_matrix_test.ts", "whatever the service does wrong at each operation, the exit code and the fate say what became of the prompt"],
  [37, "tests/program/fault_matrix_test.ts", 'a service that does not listen at "..." is 3 not run; when it listens again, an editor goes on'],
  [37, "tests/lib/gateway/connection/call_connection_test.ts", "a POST counts as perhaps taken as soon as the service has answered the ClientHello, and not before"],
  [38, "tests/program/broken_posts_test.ts", "..., ...: a prompt whose connection is closed or reset after its head, in the middle or after its body runs once"],
  [38, "tests/program/broken_posts_test.ts", "HTTP/2: a prompt that is answered with ... runs once"],
  [38, "tests/lib/gateway_test.ts", "the body of a prompt is a Blob: fetch repeats requests with strings and bytes by itself"],
  [39, "tests/lib/gateway/stream/stream_cursor_test.ts", "on a connection that resumes a stream, ..."],
  [39, "tests/lib/gateway/stream/run_stream_test.ts", "a resumed stream of old events without an end is given up after 10 minutes"],
  [40, "tests/lib/gateway/http/call_test.ts", "a JSON answer may hold 1 MiB, and be labelled as a web page"],
  [40, "tests/lib/io/lines_test.ts", "readEachLine() holds no more of an endless line than the limit"],
  [40, "tests/lib/gateway/stream/stream_cursor_test.ts", "the last event id ..."],
  [41, "tests/lib/gateway/stream/stream_lines_test.ts", "StreamLines gives one TextLineStream whole lines alone, and all of them"],
  [42, "tests/program/limits_test.ts", "a long run of events arrives in order, and memory stays flat"],
  [43, "tests/lib/bridge/json_rpc_test.ts", "readMessages() tells requests, notifications, responses and invalid lines apart (interface 4.2, 7)"],
  [43, "tests/program/limits_test.ts", "a line of 256 MiB on standard input is refused and not held, and the next one works"],
  [44, "tests/project/release_test.ts", "the pinned Deno and esbuild are those that run here"],
  [44, "tests/project/release_test.ts", "checkToolchain() refuses what has another sum, no sum, or another version"],
  [44, "tests/project/workflows_test.ts", "the workflows have the jobs, rights and steps of workflows.txt, and no others"],
  [45, "tests/project/workflows_test.ts", "a release is made once, asks reviewers, and GitHub's failures are none of its answers"],
  [45, "tests/project/workflows_test.ts", "the workflows have the jobs, rights and steps of workflows.txt, and no others"],
  [46, "tests/project/npm_package_test.ts", "keeps from the program what steers Deno"],
  [47, "tests/project/stand_ins_test.ts", "a JSR whose packages differ from deno.lock is refused, without the launcher too"],
  [48, "tests/project/release_test.ts", "a release takes named files with their sums, and writes all else itself"],
  [48, "tests/project/workflows_test.ts", "the workflows have the jobs, rights and steps of workflows.txt, and no others"],
  [49, "tests/project/release_test.ts", "and takes no tarball that two readers see differently"],
  [49, "tests/project/release_test.ts", "in which all readers see the same files"],
  [50, "tests/project/workflows_test.ts", "the patch of the workflow Update may modify pins, and do nothing else"],
  [50, "tests/project/workflows_test.ts", "the workflows have the jobs, rights and steps of workflows.txt, and no others"],
  [51, "tests/project/install_script_test.ts", "asks the GitHub CLI about a mirror's file and a local one, and says when it cannot"],
  [52, "tests/project/artefacts_test.ts", "..., started in a folder that other people wrote, runs nothing of it"],
  [52, "tests/project/npm_package_test.ts", "runs nothing of a folder that other people wrote, and npx does"],
  [53, "tests/program/permissions_test.ts", "SECURITY.md: what is told without ... is true"],
  [53, "tests/program/permissions_test.ts", "SECURITY.md: the narrowest flags work, and whatever proxy is set, the key and the login of the proxy reach nobody else"],
  [54, "tests/program/exit_codes_test.ts", "SIGUSR1 ends ... with 138, and opens no debugger"],
  [54, "tests/project/npm_package_test.ts", "ends at SIGUSR1, and opens no debugger"],
];

Deno.test("each promise of SECURITY.md has a number of its own, and a test", () => {
  const [, promises = ""] = SECURITY.split("\n## Promises\n");
  const numbers = promises.split(/^- /m).slice(1)
    .map((promise) => Number(/^\*\*(\d+)\.\*\* /.exec(promise)?.[1]));
  assert(numbers.length > 40);
  const tested = new Set(TESTS.map(([promise]) => promise));
  assertEquals(new Set(numbers), tested);
  assertEquals(numbers.length, tested.size);
});

Deno.test("the tests of the promises of SECURITY.md are there", async () => {
  for (const [promise, file, test] of TESTS) {
    const source = (await Deno.readTextFile(`${ROOT}/${file}`))
      .replaceAll(/\$\{[^}]*\}/g, "...");
    const isThere = ['"', "`"].some((quote) =>
      source.includes(quote + test + quote)
    );
    assert(isThere, `promise ${promise}: ${file} has no test "${test}"`);
  }
});
