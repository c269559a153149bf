/**
 * Sends Ctrl-C to every process of the Windows console that a process uses, as
 * the keyboard does.
 *
 *     deno run --allow-ffi=kernel32.dll tests/support/send_ctrl_c.ts PROCESS_ID
 *
 * The exit code is 0 if Windows took it.
 *
 * @module
 */
const CTRL_C_EVENT = 0;
const ALL_PROCESSES = 0;

Deno.addSignalListener("SIGINT", () => {}); // This process gets it, too.
const { symbols: kernel, close } = Deno.dlopen("kernel32.dll", {
  FreeConsole: { parameters: [], result: "i32" },
  AttachConsole: { parameters: ["u32"], result: "i32" },
  GenerateConsoleCtrlEvent: { parameters: ["u32", "u32"], result: "i32" },
  GetLastError: { parameters: [], result: "u32" },
});
kernel.FreeConsole();
const attached = kernel.AttachConsole(Number(Deno.args[0]));
console.log("attached", attached, kernel.GetLastError());
const sent =
  kernel.GenerateConsoleCtrlEvent(CTRL_C_EVENT, ALL_PROCESSES) !== 0;
console.log("sent", sent, kernel.GetLastError());
Deno.exit(sent ? 0 : 1);
