import { setTimeout as sleep } from "node:timers/promises";
import { startService } from "../service.ts";
import type { Table } from "../table.ts";
import { TerminalProcess } from "../terminal_process.ts";
import { NEEDS, onLink } from "./network.ts";

const FIRST_KEY = "first key";
const LINK = { version: "HTTP/2", roundTrip: 100 } as const;
const ENTER = `${LINK.roundTrip} ms of round trip, Enter to the first progress`;

/** The prompt sign, perhaps with the code after it that turns on wrapping (mode 7). */
// deno-lint-ignore no-control-regex
const SIGN = /> (?:\x1b\[\?7h)?$/;

/** The keys of a prompt after the first one, `{`. */
const REST = '"events":1}';

/** The pause before a key is pressed, in milliseconds: people are slow, too. */
const TYPING = 500;

/**
 * How long it takes until a key is on the screen, and after Enter, the first progress. The
 * floor prints the bytes of a stream: its first progress is the first event.
 */
export const chat: Table = {
  title: "A chat, from a key to the screen",
  subjects: ["ours", "floor"],
  needs: NEEDS,
  rows: [FIRST_KEY, ENTER].map((name) => ({ name, unit: "ms" })),
  async measure({ take }) {
    {
      await using service = await startService();
      await take({
        isChat: true,
        rounds: 15,
        async sample(command) {
          await using terminal = new TerminalProcess(command, service);
          await terminal.shows(SIGN);
          await sleep(TYPING); // What a program opens ahead is open.
          return { [FIRST_KEY]: await terminal.type("{", /\{/) };
        },
      });
    }
    await onLink(LINK, async (service, { client }) => {
      await take({
        isChat: true,
        rounds: 7,
        async sample(command) {
          await using terminal = new TerminalProcess(
            [...client, ...command],
            service,
          );
          await terminal.shows(SIGN);
          await terminal.type("{", /\{/);
          await terminal.type(REST, /1\}/);
          await sleep(TYPING);
          return { [ENTER]: await terminal.type("\r", /started/) };
        },
      });
    });
  },
};
