import { assertFalse } from "@std/assert";
import { session } from "../support/session.ts";

// A terminal on which another program writes, too.

session(
  "-q -p in the background writes nothing to the terminal, which stops whoever does",
  `
  enter stty tostop
  | [0]$ stty tostop
  | [0]$
  enter agent-gateway -q -p one > reply & wait; cat reply
  reply Done.
  match ^Done\\.$
`,
  { check: ({ screen }) => assertFalse(screen.written.includes("\x1b")) },
);

session(
  "lines that are typed ahead on a dumb terminal appear after the sign, and progress below them",
  `
  enter TERM=dumb agent-gateway
  | ...
  | >
  enter one
  asked
  enter two
  enter three
  | ...
  | > one
  | two
  | three
  progress plan: started
  reply One.
  reply Two.
  | ...
  | > one
  | two
  | three
  | plan: started
  | One.
  | > two
  | Two.
  | > three
`,
);
