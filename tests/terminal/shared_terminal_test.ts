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

// The terminal echoes a line at once. A line that the program reads only when it has asked
// for one is not shown again.
session(
  "lines that are typed ahead on a dumb terminal run in turn, and progress appears below them",
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
  reply Three.
  match ^> one\\ntwo\\nthree\\nplan: started\\nOne\\.\\n> (?:two\\n)?Two\\.\\n> (?:three\\n)?Three\\.\\n>$
  prompts one / two / three
`,
);
