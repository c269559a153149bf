/**
 * Runs a program on a Windows console of its own, with its standard streams
 * passed through, and presses Ctrl-C there when a byte comes from a TCP port of
 * this machine. Ctrl-C reaches all processes of a console, so on a shared one it
 * would end the tests too.
 *
 *     deno run -A tests/support/own_console.ts PORT PROGRAM [ARGUMENT...]
 *
 * The exit code is that of the program.
 *
 * @module
 */
const CTRL_C_EVENT = 0;
const ALL_PROCESSES = 0;

const [port = "", program = "", ...args] = Deno.args;
const { symbols: kernel } = Deno.dlopen("kernel32.dll", {
  FreeConsole: { parameters: [], result: "i32" },
  AllocConsole: { parameters: [], result: "i32" },
  GenerateConsoleCtrlEvent: { parameters: ["u32", "u32"], result: "i32" },
});
kernel.FreeConsole();
kernel.AllocConsole();
Deno.addSignalListener("SIGINT", () => {}); // Ctrl-C reaches this process too.

const button = await Deno.connect({
  hostname: "127.0.0.1",
  port: Number(port),
});
const child = new Deno.Command(program, {
  args,
  stdin: "piped",
  stdout: "piped",
  stderr: "piped",
}).spawn();
Deno.stdin.readable.pipeTo(child.stdin).catch(() => {}); // It has ended.
button.read(new Uint8Array(1)).then(() =>
  kernel.GenerateConsoleCtrlEvent(CTRL_C_EVENT, ALL_PROCESSES)
);
const [{ code }] = await Promise.all([
  child.status,
  child.stdout.pipeTo(Deno.stdout.writable, { preventClose: true }),
  child.stderr.pipeTo(Deno.stderr.writable, { preventClose: true }),
]);
Deno.exit(code);
