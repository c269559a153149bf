import { assert, assertFalse } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { serveStreams } from "../support/scripted_service.ts";
import { events } from "../support/service/behaviours.ts";
import { complete } from "../support/service/stream_events.ts";
import { Screen, test } from "../support/tmux_screen.ts";

const REPLY = [
  "# Plan",
  "",
  "Run **all** the *tests* with `deno task test`, see",
  "[the docs](https://docs.example/tests).",
  "",
  "1. first",
  "   - nested",
  "",
  "> quoted",
  "",
  "```ts",
  "const stars = **2;",
  "```",
];

for (const columns of [40, 80]) {
  test(`a reply is styled on ${columns} columns, and every character of it stays`, async () => {
    await using service = serveStreams(events([complete(REPLY.join("\n"))]));
    await using screen = await Screen.open({ columns, env: settings(service) });
    await screen.enter("agent-gateway -q");
    await screen.shows("[0]$ agent-gateway -q", "", ">");

    await screen.enter("plan");

    const rows = REPLY.flatMap((line) =>
      line.length > columns
        ? [line.slice(0, columns).trimEnd(), line.slice(columns)]
        : [line]
    );
    await screen.shows(
      ...["[0]$ agent-gateway -q", "", "> plan", "", ...rows, "", ">"],
    );
    for (
      const styled of [
        "\x1b[0;1;4mPlan\x1b[0m",
        "\x1b[0;1mall\x1b[0;2m**\x1b[0m",
        "\x1b[0;3mtests\x1b[0;2m*\x1b[0m",
        "\x1b[0;36mdeno task test\x1b[0;2m`\x1b[0m",
        "\x1b[0;4mthe docs\x1b[0;2m]",
        "\x1b[0;1m1.\x1b[0m",
        "\x1b[0;32mquoted\x1b[0m",
        "\x1b[0;36mconst stars = **2;\x1b[0m",
      ]
    ) assert(screen.written.includes(styled), JSON.stringify(styled));
  });
}

for (const setting of ["NO_COLOR=1", "TERM=dumb"]) {
  test(`${setting} leaves a reply without styles`, async () => {
    await using service = serveStreams(events([complete(REPLY.join("\n"))]));
    await using screen = await Screen.open({ env: settings(service) });
    await screen.enter(`${setting} agent-gateway -q`);
    await screen.waitFor(/^>$/m);

    await screen.enter("plan");

    await screen.waitFor("\nconst stars = **2;\n```\n");
    assertFalse((await screen.colours()).includes("\x1b"));
  });
}

test("a reply is styled on a terminal, even if standard error is none", async () => {
  await using service = serveStreams(events([complete("**all**")]));
  await using screen = await Screen.open({ env: settings(service) });
  await screen.enter("agent-gateway 2> log");
  await service.waitFor("create thread");

  await screen.enter("hello");

  const rows = ["[0]$ agent-gateway 2> log", "hello", "**all**"];
  await screen.shows(...rows);
  assert(screen.written.includes("\x1b[0;1mall\x1b[0;2m**\x1b[0m"));
});
