import { TextLineStream } from "jsr:@std/streams@^1.1.1/text-line-stream";
import { setTimeout as delay } from "node:timers/promises";

const CAN_HAVE =
  '[ "$(id -u)" = 0 ] && [ -c /dev/net/tun ] && command -v python3 ip';

/** Whether this machine and user can have a {@linkcode Wire}. */
export function hasWire(): boolean {
  if (Deno.build.os !== "linux") return false;
  const args = ["-c", CAN_HAVE];
  return new Deno.Command("sh", { args, stdout: "null" }).outputSync().success;
}

export interface WireOptions {
  /** The time to the other side and back, in milliseconds. */
  readonly roundTrip: number;
  /** The share of packets that are lost. The default is none. */
  readonly loss?: number;
}

let wires = 0;

/**
 * A network with a delay between two sides of this machine, with real TCP. It needs
 * Linux and root.
 *
 * @example
 * ```ts
 * await using wire = await Wire.start({ roundTrip: 100 });
 * new Deno.Command("ip", { args: [...] }); // see `client` and `service`
 * ```
 */
export class Wire implements AsyncDisposable {
  /** A command that runs the rest of a command line on the client's side. */
  readonly client: readonly string[];
  /** The same on the service's side. */
  readonly service: readonly string[];
  /** The address of the service's side. */
  readonly address = "10.77.0.2";
  readonly #roundTrip: number;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: ReadableStreamDefaultReader<string>;

  static async start(options: WireOptions): Promise<Wire> {
    const wire = new Wire(options);
    await wire.#answer();
    return wire;
  }

  private constructor({ roundTrip, loss = 0 }: WireOptions) {
    wires++;
    this.#roundTrip = roundTrip;
    const name = `w${Deno.pid}-${wires}`; // Names of devices have 15 characters.
    this.client = ["ip", "netns", "exec", `${name}a`];
    this.service = ["ip", "netns", "exec", `${name}b`];
    this.#child = new Deno.Command("python3", {
      args: [
        `${import.meta.dirname}/wire.py`,
        name,
        String(roundTrip),
        String(loss),
      ],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#output = this.#child.stdout.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream()).getReader();
  }

  /**
   * The round trips since the last call, counted from packets: half the length of the
   * longest chain in which each packet was sent after the one before it had arrived.
   */
  async roundTrips(): Promise<number> {
    await this.#input.write(new TextEncoder().encode("\n"));
    return Number(await this.#answer()) / 2;
  }

  /** Waits until no packet has come for two round trips. */
  async rest(): Promise<void> {
    do {
      await this.roundTrips();
      await delay(2 * this.#roundTrip);
    } while (await this.roundTrips() > 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.close();
    await this.#output.cancel();
    await this.#child.status;
  }

  async #answer(): Promise<string> {
    const { value } = await this.#output.read();
    if (value === undefined) throw new Error("The network could not be set up");
    return value;
  }
}
