/**
 * Calls of the program in a pipe, a scene each. What the interface document says comes
 * first: those scenes begin with its sections and rules. Which command lines are wrong is
 * in tests/lib/command_line_test.ts, and what each fate exits with in
 * fault_matrix_test.ts.
 */

import { assertEquals } from "@std/assert";
import { callsTo, playCall, serve } from "../support/calls.ts";
import {
  AFTER_A_LINE,
  Client,
  isNewDeno,
  runClient,
  settings,
} from "../support/client_process.ts";
import { Editor, type Message } from "../support/editor.ts";
import {
  complete,
  events,
  hang,
  progress,
} from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { promptsOf, ReferenceService } from "../support/service/service.ts";

const CALLS = String.raw`
1.2 to 1.4, 2, 4.1: two prompts on one thread
$
< hello
< say "hi" é
* = Done.
* = Done.
> Done.
> Done.
2> ...
@ POST /threads KEY
@ POST /threads/t1/runs KEY application/json {"agentName":"the-brain","prompt":"hello","wait":false}
@ GET /threads/t1/runs/r1/stream KEY text/event-stream
@ POST /threads/t1/runs KEY application/json {"agentName":"the-brain","prompt":"say \"hi\" é","wait":false}
@ GET /threads/t1/runs/r2/stream KEY text/event-stream

1.5: http would send the key in clear text
$ APP_BASE_URL=http://brain.example.com -p hi
2> agent-gateway: error: ...https...
? 1
@ 0

1, Command line: --help needs no key
$ APP_API_KEY= --bridge --help
> agent-gateway ...
>
> Usage: agent-gateway [OPTIONS] [-]
> ...
>   -b, --bridge ...
> ...
>       --base-url URL ...
> ...
@ 0

1, Command line: -h is --help
$ APP_API_KEY= -h
> agent-gateway ...
>
> Usage: agent-gateway [OPTIONS] [-]
> ...

1, Command line: -b is bridge mode, whatever belongs to other modes
$ -bq -b
< {"jsonrpc":"2.0","id":1,"method":"initialize"}
> ..."capabilities":{"agents":true}...

1, Interactive 1: a banner, with the masked key, then a thread
$
< hello
* plan: started ; = 1
> 1
2> agent-gateway VERSION, agent the-brain, key test...cdef
2> service http://127...
2> thread t1
2> plan: started

1, Interactive 2: empty input sends nothing
$ -q
<
<    
< hello
* = Done.
> Done.
@ 3

1, Interactive 3: exit leaves with 0, whatever failed and follows
$ -q
< one
< fails
< exit
< two
< ...
* = 1
* ! 422
> 1
2> agent-gateway: error: ...
% one
% fails

1, Interactive 3: quit
$ -q
< quit
< ...
@ 1

1, Interactive 3: EXIT
$ -q
< EXIT
< ...
@ 1

1, Interactive 3: Quit
$ -q
< Quit
< ...
@ 1

1, Interactive 4: errors and progress go to standard error, and the loop goes on
$
< one
< two
* ! 413 {"message":"too long"}
* plan: started ; = Two.
> Two.
2> agent-gateway ...
2> service ...
2> thread t1
2> agent-gateway: error: ...413...too long...
2> plan: started
? 1

2, Thread: without thread_id, the creation fails
$ -q -p hi
T 200 {"id":"t"}
2> agent-gateway: error: ...
? 1
@ 1

2, Reply text selection 1 to 3, 9.1
$ -q
< a
< b
< c
< d
* {"event":"complete","instructorState":{"explanation":"one"},"messages":[{"role":"assistant","content":"other"}]}
* {"event":"complete","messages":[{"role":"assistant","content":"other"}]}
* {"event":"complete"}
* {"event":"complete","instructorState":{"explanation":"four","version":7,"answer":"no"},"answer":"no","explanation":"no"}
> one
> other
> Run completed.
> four

4.1, Stream-reading 1 to 3: any chunks, and what is no JSON is ignored
$ -p hello
* data: not JSON ; pläne: a ; data: { ; = Fin 🙂
> Fin 🙂
2> ...
2> pläne: a

4.1, Stream-reading 5: complete ends the run
$ -p hello
* = Done. ; late: x
> Done.
2> agent-gateway ...
2> service ...
2> thread t1

4.1, Stream-reading 6: a stream that fails is an error
$ -q -p hello
* ~ 400
2> agent-gateway: error: ...400...
? 5

5.3, 5.4: no key, -p
$ APP_API_KEY= -p hi
2> agent-gateway: error: APP_API_KEY is not set: ...
? 1
@ 0

5.3, 5.4: no key, --bridge
$ APP_API_KEY= --bridge
2> agent-gateway: error: APP_API_KEY is not set: ...
? 1

5.3, 5.4: no key, --json
$ APP_API_KEY= --json
2> agent-gateway: error: APP_API_KEY is not set: ...
? 1

5.5: 16 characters
$ APP_API_KEY=sixteen-letters!
2> agent-gateway ..., key sixt...ers!
2> ...

5.5: 8 characters
$ APP_API_KEY=12345678
2> agent-gateway ..., key ****
2> ...

5.5: 9 characters
$ APP_API_KEY=123456789
2> agent-gateway ..., key 1234...6789
2> ...

--quiet leaves out banner and progress, not errors and replies
$ --quiet
< a
< b
* plan: started ; = 1
* plan: started
> 1
2> agent-gateway: error: ...
? 5

a piped line that is not UTF-8 is rejected, and counts as a prompt
$ -q
< one
< \xff
< three
* = 1
* ! 400 {"message":"no such field"}
> 1
2> agent-gateway: error: Prompt 2 on thread t1: A line was rejected: ...
2> agent-gateway: error: Prompt 3 on thread t1: The service answered 400: no such field.
? 1
% one
% three

-p runs prompts in order on one thread, and leaves standard input alone
$ -q -p one --prompt exit -p=two\nlines "--prompt= -x " -qp quit
< not a prompt
< ...
* = 1
* = 2
* = 3
* = 4
* = 5
> 1
> 2
> 3
> 4
> 5
@ 11
% one
% exit
% two\nlines
%  -x 
% quit

- alone is the prompt
$ -q -
< one
< two
* = 1
> 1
% one\ntwo

- after -p follows an empty line
$ -q -p Why? -
< a
< b
* = 1
> 1
% Why?\n\na\nb

--thread continues that thread and creates none
$ "--thread=my thread/1"
< one
* = 1
> 1
2> agent-gateway ...
2> service ...
2> thread my thread/1
@ 2

a reply that cannot be read is a notice alone with -q
$ -q -p hello
* {"event":"complete","messages":[{"speech":"Hi."}]}
> Run completed.

a reply that cannot be read is a warning
$ -p hello
* {"event":"complete","messages":[{"speech":"Hi."}]}
> Run completed.
2> ...
2> agent-gateway: warning: The run completed, but its reply could not be read: ...

a reply that cannot be read is a note in JSON
$ --json -p hello
* {"event":"complete","messages":[{"speech":"Hi."}]}
> ...
> {"type":"reply","text":"Run completed.",..."note":"The run completed, but its reply could not be read: ...

5, not 3, if the first prompt ran and the second did not: -p
$ -q -p one -p two
* = 1
* ! 429 3600
> 1
2> agent-gateway: error: Prompt 2 on thread t1...
? 5

5, not 3, if the first prompt ran and the second did not: lines
$ -q
< one
< two
* = 1
* ! 429 3600
> 1
2> agent-gateway: error: Prompt 2 on thread t1...
? 5

--json: failures have operation, status and fate, and input continues
$ --json
< one
<
< two
< three
* ! 400 {"message":"no such field"}
* plan: started
* = Better.
> {"type":"thread",...
> {"type":"error","message":"The service answered 400: no such field.","operation":"create run","status":400,"fate":"refused"...
> {"type":"run",...
> {"type":"progress",...
> {"type":"error",...stream ended without a reply..."operation":"stream run"...
> {"type":"run",...
> {"type":"reply","text":"Better."}
? 5
% one
% two
% three

wrong usage is one line
$ --json --nonsense
2> agent-gateway: error: Unknown argument "--nonsense"; see agent-gateway --help
? 2

wrong usage of the bridge is one line
$ --bridge -p a
2> agent-gateway: error: --prompt ...; see agent-gateway --help
? 2

--version
$ APP_API_KEY= --version
> agent-gateway VERSION (deno ...)

the last --base-url is used
$ -q --base-url=http://host.example -p hi --base-url URL/
* = Done.
> Done.

--color=always styles replies and errors in a pipe, cleaned
$ NO_COLOR=1 TERM=dumb -q --color=always
< one
< two
* = # One\n\x1b[2Jtwo \x60code\x60
* ! 400 {"message":"no\u001b[2J"}
> \x1b[1m# One\x1b[22m
> two \x1b[36m\x60\x1b[39mcode\x1b[36m\x60\x1b[39m
2> agent-gateway: \x1b[31merror:\x1b[39m Prompt 2 on thread t1: The service answered 400: no.
? 1

--timeout ends a prompt, and names thread and run; the next one runs
$ -q --timeout=10.
< one
< two
* plan: started ; hang
* = Hello!
> Hello!
2> agent-gateway: error: There was no reply within 10 s. The run may still continue. (thread t1, run r1, request ...)
? 5

replies go through a pipe byte for byte; progress and errors are a clean line each on standard error
$ TERM=xterm-256color -p one -p two
* \x1b[31mred\x1b[2J\x1b]0;title\x07\x9b2J\x00\x7f\u202etxt\x1b]52;c;cm0=\x07: \x1b]0;never\x1b[ ; = \x1b[31mred\x1b[2J\x1b]0;title\x07\x9b2J\x00\x7f\u202etxt\u2066\x1b]0;never\x1b[
* ! 400 {"message":"red\u001b[2J\u202etxt"}
> \x1b[31mred\x1b[2J\x1b]0;title\x07\x9b2J\x00\x7f\u202etxt\u2066\x1b]0;never\x1b[
2> ...
2> redtxt: 0;never
2> agent-gateway: error: Prompt 2 on thread t1: The service answered 400: redtxt.
? 1

no line on standard error commands a runner of CI: GitHub
$ GITHUB_ACTIONS=true -p one
* ::stop-commands::x: ##[error]y ; = ::z
> ::z
2> ...
2> : :stop-commands::x: # #[error]y

no line on standard error commands a runner of CI: Azure
$ TF_BUILD=true -p one
* ::stop-commands::x: ##[error]y ; = ::z
> ::z
2> ...
2> : :stop-commands::x: # #[error]y

a key that a service echoes, whole or cut as pydantic does, is left out in lines
$ APP_API_KEY=sk-live-5f1c2d3e4b5a69788796a5b4c3d2e1f0
< a
< b
* ! 401 {"detail":"Bad sk-live-5f1c2d3e4b5a...6a5b4c3d2e1f0"}
* plan sk-live-5f1c2d3e4b5a69788796a5b4c3d2e1f0: SK-LIVE-5F1C2D3E4B5A69788796A5B4C3D2E1F0 ; = Done.
> Done.
2> ...
2> agent-gateway: error: The service rejected the API key (401: Bad .........). Check APP_API_KEY.
2> plan ...: ...
? 5

a key that a service echoes, whole or cut as pydantic does, is left out in JSON
$ APP_API_KEY=sk-live-5f1c2d3e4b5a69788796a5b4c3d2e1f0 --json
< a
< b
* ! 401 {"detail":"Bad sk-live-5f1c2d3e4b5a...6a5b4c3d2e1f0"}
* plan sk-live-5f1c2d3e4b5a69788796a5b4c3d2e1f0: SK-LIVE-5F1C2D3E4B5A69788796A5B4C3D2E1F0 ; = Done.
> ...
> {"type":"error","message":"The service rejected the API key (401: Bad .........). Check APP_API_KEY.",...
> ...
> {"type":"progress","node":"plan ...","status":"..."}
> {"type":"reply","text":"Done."}
? 5

a key in the path of the base URL is left out: --check
$ APP_BASE_URL=NOWHERE/KEY/ --check
> ...
> ok ...http://...:.../...
> ...
? 1

a key in the path of the base URL is left out: a chat
$ APP_BASE_URL=NOWHERE/KEY/
2> agent-gateway ...
2> service http://...:.../...
2> ...
2> agent-gateway: error: ...
? 3
`;

for (const scene of CALLS.trim().split("\n\n")) {
  const [name = ""] = scene.split("\n", 1);
  Deno.test(name, () => playCall(scene));
}

const said = events([complete("Done.")]);
const INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n';
const RUN =
  'application/json {"agentName":"the-brain","prompt":"hello","wait":false}';

for (
  const [mode, stream, show, reply] of [
    ["lines", "stderr", "plan: started\n", "1\n"],
    ["--json", "stdout", '"started"}\n', '{"type":"reply","text":"1"}\n'],
  ] as const
) {
  Deno.test(`4.1, Stream-reading 4, ${mode}: each line is written as it happens, and the next prompt waits`, async () => {
    const gates = [new GatedStream(), new GatedStream()] as const;
    await using service = serve({
      runs: gates.map(({ behaviour }) => behaviour),
    });
    await using client = new Client({
      args: mode === "lines" ? [] : [mode],
      env: settings(service),
    });
    await client.write("one\ntwo\n");

    gates[0].progress("plan", "started");
    await client[stream].waitFor(show);
    assertEquals(promptsOf(service), ["one"]);
    gates[0].complete("1");
    await client.stdout.waitFor(reply);
    gates[1].complete("2");

    assertEquals((await client.finish()).code, 0);
    assertEquals(promptsOf(service), ["one", "two"]);
  });
}

Deno.test("5.2: .env in the current folder has a key; that of the environment precedes it", async () => {
  await using service = serve({ runs: [said, said] });
  const cwd = await Deno.makeTempDir();
  await Deno.writeTextFile(`${cwd}/.env`, "APP_API_KEY=of-the-file\n");
  const args = ["-q", "--base-url", service.url, "-p", "hi"];
  for (const env of [{}, { APP_API_KEY: "other" }]) {
    await runClient({ args, cwd, env });
  }
  await Deno.remove(cwd, { recursive: true });
  const made = callsTo(service).filter((call) => /^POST \/threads /.test(call));
  assertEquals(made, ["POST /threads of-the-file", "POST /threads other"]);
});

Deno.test("-p passes on the trace context of its environment, with the requests of the run; a chat does not", async () => {
  await using service = ReferenceService.start();
  const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const context = { TRACEPARENT: trace, TRACESTATE: "vendor=1" };
  const env = { ...settings(service), ...context };
  await runClient({ args: ["-q", "-p", "hello"], env });
  await runClient({ args: ["-q"], env, stdin: "hello\n" });

  const headers = service.requests.map(({ headers }) =>
    `${headers.get("traceparent")} ${headers.get("tracestate")}`
  );
  const [none, some] = ["null null", `${trace} vendor=1`];
  assertEquals(headers, [none, some, some, none, none, none]);
});

/** What an editor sends, and what the bridge answers. */
const CONVERSATION = `> {no-json
null -32700
> session/new {}
1 -32600
> initialize
2 string {"agents":true}
> session/new {}
3 {"sessionId":"t1"}
> session/new
4 {"sessionId":"t2"}
> session/prompt {"sessionId":"t1","prompt":"hello"}
agent_thought_chunk a: 1
agent_thought_chunk a: 1
agent_thought_chunk b: 2
agent_message_chunk Done.
5 {"stopReason":"end_turn"}
> session/prompt {"sessionId":"t2","prompt":[{"type":"text","text":"hello"}]}
agent_thought_chunk a: 1
agent_thought_chunk a: 1
agent_thought_chunk b: 2
agent_message_chunk Done.
6 {"stopReason":"end_turn"}
> agents/list {}
7 the-brain
> session/other {}
8 -32601
> session/prompt {"sessionId":"of another process","prompt":"hello"}
9 -32002`.split("\n");

/** Shortens a message of the bridge to one line of a scene. */
function line({ id, method, params, result, error }: Message): string {
  const { sessionUpdate, content } = params?.update ?? {};
  if (method !== undefined) {
    return `${sessionUpdate} ${content?.text.trimEnd()}`;
  }
  const { capabilities, serverInfo, agents, _meta, ...rest } = result ?? {};
  if (serverInfo !== undefined) {
    return `${id} ${typeof serverInfo.name} ${JSON.stringify(capabilities)}`;
  }
  return `${id} ${error?.code ?? agents?.[0].id ?? JSON.stringify(rest)}`;
}

Deno.test("1.3, 1.4, 2, 3, 4.2, 6, 7: a conversation with the bridge", async () => {
  const [first, next] = [progress("a", "1"), progress("b", "2")];
  const steps = events([first, first, next, complete("Done.")]);
  await using service = serve({ runs: [steps, steps] });
  await using editor = new Editor({ env: settings(service) });
  for (const sent of CONVERSATION.filter((line) => line.startsWith("> "))) {
    const [method = "", params = "null"] = sent.slice(2).split(/ (?=\{)/);
    if (method === "{no-json") await editor.sendLine(method);
    const id = method === "{no-json"
      ? null
      : await editor.send(method, JSON.parse(params) ?? undefined);
    await editor.response(id);
  }
  await editor.finish();
  assertEquals(
    editor.messages.map(line),
    CONVERSATION.filter((line) => !line.startsWith("> ")),
  );
  assertEquals(callsTo(service), [
    "POST /threads KEY",
    "POST /threads KEY",
    ...["t1", "t2"].flatMap((id, i) => [
      `POST /threads/${id}/runs KEY ${RUN}`,
      `GET /threads/${id}/runs/r${i + 1}/stream KEY text/event-stream`,
    ]),
  ]);
});

/** The signals that end the program, and its exit codes. */
const CODES = {
  ...{ SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143, SIGUSR1: 138 },
} as const;
const ALL = Object.keys(CODES) as (keyof typeof CODES)[];

/** What runs, and which signals it gets; the bridge's are in bridge_life_cycle_test.ts. */
const RUNNING: readonly (readonly [
  args: string,
  input: string,
  operation: "create thread" | "stream" | undefined,
  signals: typeof ALL,
  key?: "",
])[] = [
  ["-q", "", "create thread", ALL],
  ["-q", "hello\n", "stream", ALL],
  ["--check", "", "create thread", ["SIGUSR1"]],
  ["--bridge", INITIALIZE, undefined, ["SIGUSR1"]],
  ["--bridge", INITIALIZE, undefined, ["SIGUSR1"], ""],
];

const ignore = Deno.build.os === "windows";
// Before Deno 2.9, a process may not signal itself.
const canKillItself = !ignore && await isNewDeno();

for (const [args, input, operation, signals, key] of RUNNING) {
  for (const signal of signals) {
    const place = operation ??
      (key === "" ? "a start without a key" : "a rest");
    Deno.test({
      name: `${signal} ends ${args} during ${place} with ${
        CODES[signal]
      }, without a word, and opens no debugger`,
      ignore,
      async fn() {
        await using service = ReferenceService.start();
        if (operation) service.misbehave(operation, hang());
        const env = {
          ...settings(service),
          ...key === "" && { APP_API_KEY: key },
        };
        // Without a key, the bridge waits for a request for 1 s only.
        const startedBy = key === "" ? AFTER_A_LINE : [];
        await using client = new Client({ args: [args], env, startedBy });
        await client.write(key === "" ? `\n${input}` : input);
        const request = operation && await service.waitFor(operation);
        if (!request) await client.stdout.waitFor('"id":1');

        client.kill(signal);

        const { code, stdout, stderr } = await client.output();
        assertEquals(code, CODES[signal]);
        if (args === "-q") assertEquals(stdout, "");
        assertEquals(stderr.replace(/^.*APP_API_KEY is not set.*\n/, ""), "");
        assertEquals(await request?.ended, request && "dropped");
        // A shell ends its loop only after the signal itself. SIGQUIT writes a core.
        const isKilled = canKillItself && /^SIG(?:HUP|INT|TERM)$/.test(signal);
        const status = await client.status;
        assertEquals(status.signal, isKilled ? signal : null);
      },
    });
  }
}
