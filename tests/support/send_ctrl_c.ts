/**
 * Sends Ctrl-C to every process of this Windows console, as the keyboard does.
 *
 *     deno run --allow-ffi=kernel32.dll tests/support/send_ctrl_c.ts
 *
 * The exit code is 0 if Windows took it.
 *
 * @module
 */
const CTRL_C_EVENT = 0;
const ALL_PROCESSES = 0;

Deno.addSignalListener("SIGINT", () => {}); // This process gets it, too.
const kernel = Deno.dlopen("kernel32.dll", {
  GenerateConsoleCtrlEvent: { parameters: ["u32", "u32"], result: "i32" },
});
const sent = kernel.symbols.GenerateConsoleCtrlEvent(
  CTRL_C_EVENT,
  ALL_PROCESSES,
);
kernel.close();
Deno.exit(sent === 0 ? 1 : 0);
