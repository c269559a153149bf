import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import {
  asksForBridge,
  parseCommandLine,
  UsageError,
} from "../../lib/command_line.ts";
import { blocksOf } from "../support/blocks.ts";

/** What `agent-gateway` alone asks for, as JSON. */
const DEFAULTS = {
  ...{ command: "interactive", prompts: [], readsInput: false },
  ...{ color: "auto", json: false, plain: false, quiet: false },
};

/** What command lines ask for besides the defaults, or in place of them. */
const COMMANDS = String.raw`
{}
  --
{"prompts":["one","two","three","-4=x"],"readsInput":true}
  -p one --prompt two -p=three --prompt=-4=x -
{"threadId":"a","json":true,"color":"never","plain":true,"quiet":true}
  -qt a --json --plain --color never
{"baseUrl":"http://localhost","timeLimit":1500}
  --base-url=http://localhost --timeout 1.5
{"baseUrl":"y","threadId":"b","quiet":true}
  -t a -t b --base-url x --base-url y -q -q
{"timeLimit":1000,"color":"always"}
  --color=never --color=always --timeout=9 --timeout=1
{"prompts":["exit"]}
  --color auto -p exit
{"command":"bridge","verbose":true}
  -bq --verbose --color=never --plain
{"command":"check","json":false}
  --check -q
{"command":"check","prompt":"a","json":false}
  --check -p=a
{"command":"check","baseUrl":"x","prompt":"hi","timeLimit":2000,"json":true}
  --check -p hi --json --timeout=2 --base-url=x
{"timeLimit":250}
  --timeout=0.25
{"timeLimit":500}
  --timeout=.5
{"timeLimit":5000}
  --timeout=5.
{"timeLimit":7000}
  --timeout=007
{"timeLimit":86400000}
  --timeout=86400
{"timeLimit":0.1}
  --timeout=0.0001
`;

for (const [asked, lines] of blocksOf(COMMANDS)) {
  for (const line of lines) {
    Deno.test(`parseCommandLine() understands ${line}`, async () => {
      const parsed = await parseCommandLine(line.split(" "));
      const fields = JSON.parse(asked);
      const usual = fields.command === undefined ? DEFAULTS : {};
      assertEquals(JSON.parse(JSON.stringify(parsed)), { ...usual, ...fields });
    });
  }
}

Deno.test("parseCommandLine() prints before it looks at what excludes each other", async () => {
  const args = ["--bridge", "-p", "one", "--json", "-", "-", "-t", ".."];
  for (
    const [flag, start] of [
      ["-h", /^agent-gateway \d(?:.{0,80}\n){10,40}$/], // fits into a terminal
      ["-V", /^agent-gateway \d.* \(deno .*\)\n$/],
      ["--completions=fish", /^# fish completion for agent-gateway\n/],
    ] as const
  ) {
    const command = await parseCommandLine([...args, flag]);
    assertMatch(command.command === "print" ? command.text : "", start);
  }
});

/** The errors, each with the command lines that it is for. */
const ERRORS = String.raw`
--timeout must be a number of seconds above 0, at most 86400
  --timeout=0
  --timeout=0.0
  --timeout=-1
  --timeout=86400.1
  --timeout=86401
  --timeout=99999999999999999999999999999999999999999999999999999999999999999999
  --timeout=1e3
  --timeout=0x10
  --timeout=Infinity
  --timeout=NaN
  --timeout=1,5
  --timeout=1\t
  --timeout=\t1
  --timeout=1s
  --timeout=.
  --timeout=1.2.3
  --timeout=+1
  --timeout=１
--bridge takes no value: "--bridge=x"
  --bridge=x
-b takes no value: "-b=x"
  -b=x
-b takes no value: "-b="
  -b=
--bridge takes no value: "--bridge="
  --bridge=
Unknown argument "-b5"
  -b5
Unknown argument "-b--help"
  -b--help
--base-url needs a value that is not blank
  --base-url=
--base-url needs a value; if it begins with a dash: --base-url=URL
  --base-url -- x
-p needs a value; if it begins with a dash: --prompt=TEXT
  -p -
-p needs a value: -p TEXT
  -bp
  -pb one
-t needs a value; if it begins with a dash: --thread=ID
  -t -x
--thread needs a value: --thread ID
  --thread
-p needs a value that is not blank
  -p\u0020
  -p \n\t
--prompt needs a value that is not blank
  --prompt=
--color must be auto, always or never
  --color=red
--completions must be bash, zsh, fish or powershell
  --completions tcsh
-b takes no value: "-b=\\u009b"
  -b=\u009b
--thread must be the id of a thread, not "\ufffd"
  -t \ufffd
--thread must be the id of a thread, not ".."
  -t ..
Unknown argument "hello" (to run a prompt: agent-gateway -p TEXT)
  hello
  --help hello
  -- hello
Unknown argument "two\\n\\u009b31m\\u202e" (to run a prompt: agent-gateway -p TEXT)
  two\n\u009b31m\u202e
Unknown argument "false" (to run a prompt: agent-gateway -p TEXT)
  --bridge false
Unknown argument "-p" (to run a prompt: agent-gateway -p TEXT)
  -- -p
Unknown argument "two" (a prompt of several words needs quotes)
  -p one two
Unknown argument "help" (did you mean --help?)
  help
Unknown argument "check" (did you mean --check?)
  check
Unknown argument "bridge" (did you mean --bridge?)
  bridge
Unknown argument "completions" (did you mean --completions?)
  completions
Unknown argument "version" (did you mean --version?)
  version
Unknown argument "--x\\u009b"
  --x\u009b
"-" can be given only once
  - -
--prompt cannot be used with --bridge
  -b --prompt=x
--thread cannot be used with --bridge
  -b --thread=x
--json cannot be used with --bridge
  -b --json
--timeout cannot be used with --bridge
  -b --timeout=1
"-" cannot be used with --bridge
  -b -
--thread cannot be used with --check
  --check -t=x
"-" cannot be used with --check
  --check -
--check runs one prompt: give --prompt only once
  --check -p=x -p=y
--bridge cannot be used with --check
  --check -b
--verbose needs --bridge
  --verbose
--verbose cannot be used with --check
  --check --verbose
`;

/** The flag that each slip is taken for; none for the last ones. */
const SLIPS = `
(did you mean --bridge?)
  --bridg
  --bridgee
  --brdge
  --bredge
  --birdge
  -bridge
  --bxidxe
  --bridgexx
  --bidg
  --BRIDGE=x
(did you mean --json?)
  --jso
  --josn
  --js0n=x
(did you mean --completions?)
  --com
  --completion
(did you mean -q?)
  --q
  -Q
(did you mean -b?)
  --b
  -B
(did you mean --base-url?)
  --base-url.x
  --base_url
.
  --__proto__
  --rbdige
  --no-bridge
  -5
  -bx
  --js
  --bxxdxe
  --nonsense
  -x
  --toString
  --complete
`;

const LONG = "é".repeat(201);
const RUN = "(to run a prompt: agent-gateway -p TEXT)";

const REFUSED: readonly (readonly [line: string, message: string])[] = [
  ...blocksOf(ERRORS).flatMap(([message, lines]) =>
    lines.map((line) => [line, message] as const)
  ),
  ...blocksOf(SLIPS).flatMap(([advice, slips]) =>
    slips.map((slip) =>
      [
        slip,
        `Unknown argument "${slip}" ${advice}`.replace(/ \.$/, ""),
      ] as const
    )
  ),
  ["", `Unknown argument "" ${RUN}`],
  [LONG, `Unknown argument "${LONG.slice(1)}..." ${RUN}`],
];

for (const [line, message] of REFUSED) {
  Deno.test(`parseCommandLine() refuses ${JSON.stringify(line)}`, async () => {
    const parsed = () => parseCommandLine(line.split(" "));
    const error = await assertRejects(parsed, UsageError);
    assertEquals(error.message, message);
  });
}

Deno.test("asksForBridge() finds --bridge and -b among arguments that are wrong", () => {
  const lines = ["--bridge", "-x -b", "-qb", "-bq word", "bridge", "--bridg"];
  assertEquals(
    [...lines, "--verbose", "-p b", ""]
      .filter((line) => asksForBridge(line.split(" "))),
    lines.slice(0, 4),
  );
});
