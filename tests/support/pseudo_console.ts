/**
 * Runs a program on a Windows console without a window. What comes from standard input
 * is typed there; what the console would show goes to standard output, as text with
 * escape codes.
 *
 *     deno run -A tests/support/pseudo_console.ts PROGRAM [ARGUMENT...]
 *
 * The exit code is that of the program. Wine's console shows escape codes only roughly:
 * it keeps them as characters in the cells of its screen, and sends those that change.
 *
 * @module
 */
const SIZE = 80 + (24 << 16); // columns and rows
const EXTENDED_STARTUPINFO_PRESENT = 0x80000;
const PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE = 0x20016n;
const STARTF_USESTDHANDLES = 0x100;
const INFINITE = 0xffffffff;
const GENERIC_READ_WRITE = 0xc0000000;
const FILE_SHARE_READ_WRITE = 3;
const OPEN_EXISTING = 3;

/** The first argument of this script where it runs on the new console. */
const INSIDE = "--inside";

const { symbols: kernel } = Deno.dlopen("kernel32.dll", {
  CreatePipe: {
    parameters: ["buffer", "buffer", "pointer", "u32"],
    result: "i32",
  },
  CreatePseudoConsole: {
    parameters: ["u32", "u64", "u64", "u32", "buffer"],
    result: "i32",
  },
  ClosePseudoConsole: {
    parameters: ["u64"],
    result: "void",
    nonblocking: true,
  },
  InitializeProcThreadAttributeList: {
    parameters: ["buffer", "u32", "u32", "buffer"],
    result: "i32",
  },
  UpdateProcThreadAttribute: {
    parameters: ["buffer", "u32", "u64", "u64", "u64", "pointer", "pointer"],
    result: "i32",
  },
  CreateProcessW: {
    parameters: [
      ...["pointer", "buffer", "pointer", "pointer", "i32", "u32"] as const,
      ...["pointer", "pointer", "buffer", "buffer"] as const,
    ],
    result: "i32",
  },
  WaitForSingleObject: {
    parameters: ["u64", "u32"],
    result: "u32",
    nonblocking: true,
  },
  GetExitCodeProcess: { parameters: ["u64", "buffer"], result: "i32" },
  CreateFileW: {
    parameters: ["buffer", "u32", "u32", "buffer", "u32", "u32", "u64"],
    result: "u64",
  },
  CloseHandle: { parameters: ["u64"], result: "i32" },
  ReadFile: {
    parameters: ["u64", "buffer", "u32", "buffer", "pointer"],
    result: "i32",
    nonblocking: true,
  },
  WriteFile: {
    parameters: ["u64", "buffer", "u32", "buffer", "pointer"],
    result: "i32",
  },
});

function check(isDone: boolean, what: string): void {
  if (!isDone) throw new Error(`Cannot ${what}`);
}

/** The two ends of a new pipe. */
function createPipe(): { readonly reader: bigint; readonly writer: bigint } {
  const [reader, writer] = [new BigUint64Array(1), new BigUint64Array(1)];
  check(kernel.CreatePipe(reader, writer, null, 0) !== 0, "create a pipe");
  return { reader: reader[0] ?? 0n, writer: writer[0] ?? 0n };
}

/** How a program is started, as its `STARTUPINFOEXW`. */
class StartupInfo {
  readonly #info = new DataView(new ArrayBuffer(112));
  /** Kept, because the system gets a pointer to it. */
  readonly #attributes: Uint8Array<ArrayBuffer>;

  constructor() {
    const size = new BigUint64Array(1);
    kernel.InitializeProcThreadAttributeList(null, 1, 0, size);
    this.#attributes = new Uint8Array(Number(size[0]));
    kernel.InitializeProcThreadAttributeList(this.#attributes, 1, 0, size);
    const list = Deno.UnsafePointer.of(this.#attributes);
    this.#info.setUint32(0, this.#info.byteLength, true);
    this.#info.setUint32(60, STARTF_USESTDHANDLES, true);
    this.#info.setBigUint64(104, Deno.UnsafePointer.value(list), true);
  }

  /** Starts it on a console. */
  setConsole(console: bigint): void {
    kernel.UpdateProcThreadAttribute(
      ...[this.#attributes, 0, PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE] as const,
      ...[console, 8n, null, null] as const,
    );
  }

  /** Sets its standard input, standard output and standard error. */
  setStreams(handles: readonly bigint[]): void {
    for (const [index, handle] of handles.entries()) {
      this.#info.setBigUint64(80 + 8 * index, handle, true);
    }
  }

  /** Starts it; returns the handle of its process. */
  start(command: readonly string[]): bigint {
    const text = command.map((word) => `"${word}"`).join(" ");
    const line = Uint16Array.from(`${text}\0`, (c) => c.charCodeAt(0));
    const process = new BigUint64Array(3); // PROCESS_INFORMATION
    const isStarted = kernel.CreateProcessW(
      ...[null, line, null, null, 1, EXTENDED_STARTUPINFO_PRESENT] as const,
      ...[null, null, new Uint8Array(this.#info.buffer), process] as const,
    );
    check(isStarted !== 0, `start ${text}`);
    return process[0] ?? 0n;
  }
}

/** The exit code of a process, after its end. */
async function endOf(process: bigint): Promise<number> {
  await kernel.WaitForSingleObject(process, INFINITE);
  const code = new Uint32Array(1);
  kernel.GetExitCodeProcess(process, code);
  return code[0] ?? 0;
}

/** Opens the input or output of this process's console, for child processes too. */
function openConsole(name: "CONIN$" | "CONOUT$"): bigint {
  const file = Uint16Array.from(`${name}\0`, (c) => c.charCodeAt(0));
  const security = new Uint32Array([24, 0, 0, 0, 1, 0]); // SECURITY_ATTRIBUTES
  return kernel.CreateFileW(
    ...[file, GENERIC_READ_WRITE, FILE_SHARE_READ_WRITE] as const,
    ...[security, OPEN_EXISTING, 0, 0n] as const,
  );
}

async function typeInput(writer: bigint): Promise<void> {
  const written = new Uint32Array(1);
  for await (const bytes of Deno.stdin.readable) {
    kernel.WriteFile(writer, bytes, bytes.length, written, null);
  }
}

async function showOutput(reader: bigint): Promise<void> {
  const bytes = new Uint8Array(4096);
  const length = new Uint32Array(1);
  while (await kernel.ReadFile(reader, bytes, bytes.length, length, null)) {
    await Deno.stdout.write(bytes.slice(0, length[0]));
  }
}

/** Runs a program on the console of this process. */
async function runInside(command: readonly string[]): Promise<number> {
  const [input, output] = [openConsole("CONIN$"), openConsole("CONOUT$")];
  const info = new StartupInfo();
  info.setStreams([input, output, output]);
  return await endOf(info.start(command));
}

/** Runs this script again, on a new console. */
async function runOnConsole(command: readonly string[]): Promise<number> {
  const [input, output] = [createPipe(), createPipe()];
  const handle = new BigUint64Array(1);
  const result = kernel.CreatePseudoConsole(
    ...[SIZE, input.reader, output.writer, 0, handle] as const,
  );
  check(result === 0, "create a console");
  const [console = 0n] = handle;
  kernel.CloseHandle(input.reader);
  kernel.CloseHandle(output.writer);

  const info = new StartupInfo();
  info.setConsole(console);
  const process = info.start([
    ...[Deno.execPath(), "run", "-q", "--no-config", "-A"],
    ...[import.meta.filename ?? "", INSIDE, ...command],
  ]);
  typeInput(input.writer);
  const shown = showOutput(output.reader);
  const code = await endOf(process);
  await kernel.ClosePseudoConsole(console);
  await shown;
  return code;
}

const [first, ...rest] = Deno.args;
Deno.exit(
  await (first === INSIDE ? runInside(rest) : runOnConsole(Deno.args)),
);
