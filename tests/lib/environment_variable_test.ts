import { assertEquals } from "@std/assert";
import { environmentVariable } from "../../lib/environment_variable.ts";

Deno.test("environmentVariable() is the value, or undefined if there is none", () => {
  Deno.env.set("A_VARIABLE", "a value");
  assertEquals(environmentVariable("A_VARIABLE"), "a value");
  Deno.env.delete("A_VARIABLE");
  assertEquals(environmentVariable("A_VARIABLE"), undefined);
});

Deno.test({
  name: "environmentVariable() is undefined if the variable may not be read",
  permissions: { env: false },
  fn() {
    assertEquals(environmentVariable("A_VARIABLE"), undefined);
  },
});

Deno.test({
  name: "environmentVariable() is U+FFFD if the value is not Unicode",
  ignore: Deno.build.os === "windows",
  async fn() {
    const module = import.meta.resolve("../../lib/environment_variable.ts");
    const script = `import { environmentVariable } from "${module}";
      console.log(environmentVariable("A_VARIABLE"));`;
    const { stdout } = await new Deno.Command("sh", {
      args: [
        "-c",
        `A_VARIABLE=$(printf '\\377') exec "$@"`,
        "sh",
        Deno.execPath(),
        "eval",
        script,
      ],
    }).output();
    assertEquals(new TextDecoder().decode(stdout), "\ufffd\n");
  },
});
