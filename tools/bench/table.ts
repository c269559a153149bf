import type { Peer } from "./peers.ts";
import type { Command, Programs } from "./programs.ts";

/** A table of `docs/performance.md`, and how its figures are measured. */
export interface Table {
  /** Its heading on the page. */
  readonly title: string;
  /** Its columns. The first one is the client. */
  readonly subjects: readonly string[];
  readonly rows: readonly Row[];
  /** Adds samples for every row. */
  readonly measure: (setup: Setup, samples: Samples) => Promise<void>;
}

/** A row of a table. */
export interface Row {
  readonly name: string;
  /** The unit. One that ends with `/s` is a speed: more is better. */
  readonly unit: string;
  /** Whether ratios would say nothing, as for figures close to zero. */
  readonly withoutRatios?: boolean;
}

/** What tables measure, and where. */
export interface Setup {
  /** Whether sizes are small, only to see that everything works. */
  readonly quick: boolean;
  readonly programs: Programs;
  readonly peer: Peer;
}

/** The samples of each row and subject. */
export type SampleRecord = Record<string, Record<string, number[]>>;

/** A sample of one or more rows, by their names. */
export type Sample = Readonly<Record<string, number>>;

export interface TakeOptions {
  /** The first subject is the client. */
  readonly subjects: Readonly<Record<string, Command>>;
  readonly rounds: number;
  /** Whether each subject runs once before, unmeasured, to fill its caches. */
  readonly warmUp?: boolean;
  /** Whether the subjects of a round run at the same time. */
  readonly together?: boolean;
  /** Runs a subject once. */
  readonly sample: (command: Command) => Promise<Sample>;
}

/** Collects the samples of a table. */
export class Samples {
  readonly record: SampleRecord;
  readonly #quick: boolean;
  readonly #env: Readonly<Record<string, string>>;

  /**
   * @param quick Whether each program runs once only.
   * @param caches A folder for Deno's caches. They hold the code that the first run
   * has used, so no other table may share them.
   */
  constructor(
    { rows }: Pick<Table, "rows">,
    { quick, caches }: { readonly quick: boolean; readonly caches: string },
  ) {
    this.record = Object.fromEntries(rows.map(({ name }) => [name, {}]));
    this.#quick = quick;
    this.#env = { DENO_DIR: caches };
  }

  /**
   * Runs the subjects in turn, several times, so that other load on the machine
   * affects all of them. A peer that fails is left out, with a line on standard
   * error.
   *
   * @throws If the client fails.
   */
  async take(options: TakeOptions): Promise<void> {
    const { subjects, warmUp = false, together = false } = options;
    const taken = new Map(
      Object.keys(subjects).map((subject) => [subject, [] as Sample[]]),
    );
    const [client] = taken.keys();
    const run = async (subject: string, command: Command) => {
      try {
        const sample = await options.sample({ ...command, env: this.#env });
        taken.get(subject)?.push(sample);
      } catch (error) {
        if (subject === client || !(error instanceof Error)) throw error;
        console.error(`Not measured: ${subject}: ${error.message}`);
        taken.delete(subject);
      }
    };
    const warmUps = warmUp && !this.#quick ? 1 : 0;
    const rounds = this.#quick ? 1 : options.rounds;
    for (let round = 0; round < warmUps + rounds; round++) {
      const running = [];
      for (const [subject, command] of Object.entries(subjects)) {
        if (!taken.has(subject)) continue;
        const ended = run(subject, command);
        if (together) running.push(ended);
        else await ended;
      }
      await Promise.all(running);
    }
    for (const [subject, samples] of taken) {
      for (const sample of samples.slice(warmUps)) this.#add(subject, sample);
    }
  }

  #add(subject: string, sample: Sample): void {
    for (const [name, value] of Object.entries(sample)) {
      const row = this.record[name];
      if (row === undefined) throw new Error(`The table has no row "${name}"`);
      (row[subject] ??= []).push(value);
    }
  }
}

/** The value that a share of all values does not exceed, interpolated. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = share * (sorted.length - 1);
  const below = sorted[Math.floor(position)] ?? NaN;
  const above = sorted[Math.ceil(position)] ?? NaN;
  return below + (above - below) * (position % 1);
}
