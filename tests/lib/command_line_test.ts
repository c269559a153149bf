import {
  assert,
  assertEquals,
  assertObjectMatch,
  assertRejects,
} from "@std/assert";
import {
  asksForBridge,
  parseCommandLine,
  UsageError,
} from "../../lib/command_line.ts";

/** What `agent-gateway` alone asks for. */
const DEFAULTS = await parseCommandLine([]);

/** Arguments, a space between, and what they ask for besides the defaults. */
const COMMANDS: Readonly<Record<string, string>> = {
  "--": "",
  "-p one --prompt two -p=three --prompt=-4=x -":
    '"prompts":["one","two","three","-4=x"],"readsInput":true',
  "-qt a --json --plain --color never":
    '"threadId":"a","json":true,"color":"never","plain":true,"quiet":true',
  "--base-url=http://localhost --timeout 1.5":
    '"baseUrl":"http://localhost","timeLimit":1500',
  "-t a -t b --base-url x --base-url y -q -q":
    '"baseUrl":"y","threadId":"b","quiet":true',
  "--color=never --color=always --timeout=9 --timeout=1":
    '"timeLimit":1000,"color":"always"',
  "--color auto -p exit": '"prompts":["exit"]',
  "-bq --verbose --color=never --plain": '"command":"bridge","verbose":true',
  "--check -q": '"command":"check"',
  "--check -p=a": '"command":"check","prompt":"a"',
  "--check -p hi --json --timeout=2 --base-url=x":
    '"command":"check","baseUrl":"x","prompt":"hi","timeLimit":2000,"json":true',
};

Deno.test("parseCommandLine() by default asks for a chat", () => {
  assertEquals({ ...DEFAULTS }, {
    ...{ command: "interactive", prompts: [], readsInput: false },
    ...{ baseUrl: undefined, threadId: undefined, timeLimit: undefined },
    ...{ color: "auto", json: false, plain: false, quiet: false },
  });
});

for (const [line, asked] of Object.entries(COMMANDS)) {
  Deno.test(`parseCommandLine() understands ${line}`, async () => {
    const parsed = Object.entries(await parseCommandLine(line.split(" ")));
    const usual = Object.entries(DEFAULTS).map((field) => `${field}`);
    const others = parsed.filter((field) => !usual.includes(`${field}`));
    const sorted = (text: string) => text.split(/,(?=")/).sort().join();
    assertEquals(
      sorted(JSON.stringify(Object.fromEntries(others)).slice(1, -1)),
      sorted(asked),
    );
  });
}

Deno.test("parseCommandLine() prints before it looks at what excludes each other", async () => {
  const args = ["--bridge", "-p", "one", "--json", "-", "-", "-t", ".."];
  const asked = [["-h"], ["-V"], ["--completions=fish"]].map((flag) =>
    parseCommandLine([...args, ...flag])
  );
  const texts = (await Promise.all(asked)).map((command) => {
    assert(command.command === "print");
    return command.text.split(" ", 2).join(" ");
  });
  assertEquals(texts.map((text) => text.replace(/\d.*/, "N")), [
    ...["agent-gateway N", "agent-gateway N", "# fish"],
  ]);
});

const TIMES: readonly (readonly [value: string, milliseconds: number])[] = [
  ...[["1", 1000], ["0.25", 250], [".5", 500], ["5.", 5000]] as const,
  ...[["007", 7000], ["86400", 86_400_000], ["0.0001", 0.1]] as const,
];
const NO_TIMES = [
  ...["0", "0.0", "-1", "86400.1", "86401", "9".repeat(400), "1e3", "0x10"],
  ...["Infinity", "NaN", "1,5", "1 ", " 1", "1s", ".", "1.2.3", "+1", "１"],
];
Deno.test("--timeout takes seconds, fractions too, up to a day", async () => {
  for (const [value, timeLimit] of TIMES) {
    const args = [`--timeout=${value}`];
    assertObjectMatch(await parseCommandLine(args), { timeLimit });
  }
  for (const value of NO_TIMES) {
    const error = await assertRejects(
      () => parseCommandLine([`--timeout=${value}`]),
      UsageError,
      "above 0, at most 86400",
    );
    assert(
      error.message.startsWith("--timeout must be a number of seconds"),
    );
  }
});

const RUN = "(to run a prompt: agent-gateway -p TEXT)";
/** The error for each command line. */
const ERRORS: Readonly<Record<string, string>> = {
  // Values
  "--bridge=x": '--bridge takes no value: "--bridge=x"',
  "-b=x": '-b takes no value: "-b=x"',
  "-b=": '-b takes no value: "-b="',
  "--bridge=": '--bridge takes no value: "--bridge="',
  "-b5": 'Unknown argument "-b5"',
  "-b--help": 'Unknown argument "-b--help"',
  "--base-url=": "--base-url needs a value that is not blank",
  "--base-url -- x":
    "--base-url needs a value; if it begins with a dash: --base-url=URL",
  "-p -": "-p needs a value; if it begins with a dash: --prompt=TEXT",
  "-bp": "-p needs a value: -p TEXT",
  "-pb one": "-p needs a value: -p TEXT",
  "-t -x": "-t needs a value; if it begins with a dash: --thread=ID",
  "--thread": "--thread needs a value: --thread ID",
  "-p ": "-p needs a value that is not blank",
  "-p \n\t": "-p needs a value that is not blank",
  "--prompt=": "--prompt needs a value that is not blank",
  "--color=red": "--color must be auto, always or never",
  "--completions tcsh": "--completions must be bash, zsh, fish or powershell",
  "-b=\x9b": String.raw`-b takes no value: "-b=\u009b"`,
  "-t \ufffd": `--thread must be the id of a thread, not "\ufffd"`,
  "-t ..": '--thread must be the id of a thread, not ".."',
  // Words
  "hello": `Unknown argument "hello" ${RUN}`,
  "": `Unknown argument "" ${RUN}`,
  "two\n\u009b31m\u202e": String
    .raw`Unknown argument "two\n\u009b31m\u202e" ${RUN}`,
  ["é".repeat(201)]: `Unknown argument "${"é".repeat(200)}..." ${RUN}`,
  "--help hello": `Unknown argument "hello" ${RUN}`,
  "--bridge false": `Unknown argument "false" ${RUN}`,
  "-- hello": `Unknown argument "hello" ${RUN}`,
  "-- -p": `Unknown argument "-p" ${RUN}`,
  "-- -": '"-" has to be before "--"',
  "-p one two":
    'Unknown argument "two" (a prompt of several words needs quotes)',
  "help": 'Unknown argument "help" (did you mean --help?)',
  "check": 'Unknown argument "check" (did you mean --check?)',
  "bridge": 'Unknown argument "bridge" (did you mean --bridge?)',
  "completions": 'Unknown argument "completions" (did you mean --completions?)',
  "version": 'Unknown argument "version" (did you mean --version?)',
  // Flags
  "--x\x9b": String.raw`Unknown argument "--x\u009b"`,
  // What excludes each other
  "- -": '"-" can be given only once',
  "-b --prompt=x": "--prompt cannot be used with --bridge",
  "-b --thread=x": "--thread cannot be used with --bridge",
  "-b --json": "--json cannot be used with --bridge",
  "-b --timeout=1": "--timeout cannot be used with --bridge",
  "-b -": '"-" cannot be used with --bridge',
  "--check -t=x": "--thread cannot be used with --check",
  "--check -": '"-" cannot be used with --check',
  "--check -p=x -p=y": "--check runs one prompt: give --prompt only once",
  "--check -b": "--bridge cannot be used with --check",
  "--verbose": "--verbose needs --bridge",
  "--check --verbose": "--verbose cannot be used with --check",
};
for (const [line, message] of Object.entries(ERRORS)) {
  Deno.test(`parseCommandLine() refuses ${JSON.stringify(line)}`, async () => {
    const error = await assertRejects(
      () => parseCommandLine(line.split(" ")),
      UsageError,
    );
    assertEquals(error.message, message);
  });
}

/** The flag that each slip is taken for; none for the last ones. */
const SLIPS: Readonly<Record<string, readonly string[]>> = {
  " (did you mean --bridge?)": [
    ...["--bridg", "--bridgee", "--brdge", "--bredge", "--birdge", "-bridge"],
    ...["--bxidxe", "--bridgexx", "--bidg", "--BRIDGE=x"],
  ],
  " (did you mean --json?)": ["--jso", "--josn", "--js0n=x"],
  " (did you mean --completions?)": ["--com", "--completion"],
  " (did you mean -q?)": ["--q", "-Q"],
  " (did you mean -b?)": ["--b", "-B"],
  " (did you mean --base-url?)": ["--base-url.x", "--base_url"],
  "": [
    ...["--__proto__", "--rbdige", "--no-bridge", "-5", "-bx", "--js"],
    ...["--bxxdxe", "--nonsense", "-x", "--toString", "--complete"],
  ],
};
Deno.test("parseCommandLine() names the flag that an unknown one is a slip of", async () => {
  for (const [advice, slips] of Object.entries(SLIPS)) {
    for (const slip of slips) {
      const error = await assertRejects(
        () => parseCommandLine([slip]),
        UsageError,
      );
      assertEquals(error.message, `Unknown argument "${slip}"${advice}`);
    }
  }
});

const BRIDGE = [["--bridge"], ["-x", "-b"], ["-qb"], ["-bq", "word"]];
const NO_BRIDGE = [[], ["bridge"], ["--bridg"], ["--verbose"], ["-p", "b"]];
Deno.test("asksForBridge() finds --bridge and -b among arguments that are wrong", () => {
  assertEquals(BRIDGE.filter((args) => !asksForBridge(args)), []);
  assertEquals(NO_BRIDGE.filter((args) => asksForBridge(args)), []);
});
