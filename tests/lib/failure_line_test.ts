import { assertEquals, assertMatch } from "@std/assert";
import { failureLine } from "../../lib/failure_line.ts";
import { InputError, OutputError } from "../../lib/standard_streams.ts";

const DEFECT =
  ": this is a defect, please report it at https://github.com/agent-gateway/agent-gateway/issues";

Deno.test("failureLine() is the message of a failed stream or a missing permission, on one line", () => {
  assertEquals(failureLine(new InputError("Cannot\nread")), "Cannot read");
  assertEquals(failureLine(new OutputError("Cannot write")), "Cannot write");
  assertEquals(
    failureLine(new Deno.errors.NotCapable("Requires net access")),
    "Requires net access",
  );
});

Deno.test("failureLine() gives the class and the place of a defect, never its message", () => {
  for (const message of ["", "secret", "secret\n    at secret (x.ts:1:1)"]) {
    const line = failureLine(new RangeError(message));

    assertMatch(
      line,
      /^Internal error \(RangeError at failure_line_test\.ts:\d+:\d+\): /,
    );
    assertEquals(line.slice(line.indexOf("): ") + 1), DEFECT);
  }
});

Deno.test("failureLine() needs neither a stack nor an error", () => {
  const error = new Error("secret");
  delete error.stack;

  assertEquals(failureLine(error), `Internal error (Error)${DEFECT}`);
  assertEquals(failureLine("secret"), `Internal error (string)${DEFECT}`);
});
