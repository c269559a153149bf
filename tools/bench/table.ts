import type { Command, CommandOptions, Form, Programs } from "./programs.ts";

/** A part of the table of `docs/performance.md`, and how its figures are measured. */
export interface Table {
  /** What its rows begin with on the page. */
  readonly title: string;
  /** Its columns. The first one is the client. */
  readonly subjects: readonly string[];
  readonly rows: readonly Row[];
  /** What it cannot be measured without, if not every machine has it. */
  readonly needs?: { readonly isMet: () => boolean; readonly what: string };
  /** Takes samples for every row. */
  readonly measure: (bench: Bench) => Promise<void>;
}

/** A row of a table. */
export interface Row {
  readonly name: string;
  /** The unit of a cost: less is better. */
  readonly unit: string;
  /** The quantile of the samples that is shown. The default is 0.5, the median. */
  readonly share?: number;
}

/** What a table is measured with. */
export interface Bench {
  /** Whether sizes are small, only to see that everything works. */
  readonly quick: boolean;
  /** The forms of the client that are measured. */
  readonly forms: readonly Form[];
  /**
   * Runs the subjects in turn, several times, so that other load on the machine
   * affects all of them.
   */
  readonly take: (options: TakeOptions) => Promise<void>;
}

export interface TakeOptions extends CommandOptions {
  readonly rounds: number;
  /** Whether the subjects of a round run at the same time. */
  readonly together?: boolean;
  /** Runs a subject once, and returns its figures by the names of the rows. */
  readonly sample: (
    command: Command,
  ) => Promise<Readonly<Record<string, number>>>;
}

/** The samples of each row and subject. */
export type Samples = Record<string, Record<string, number[]>>;

/**
 * Measures a table. With `quick`, each subject runs once.
 *
 * @throws If a subject fails.
 */
export async function measure(
  table: Pick<Table, "subjects" | "measure">,
  programs: Programs,
  { quick }: { readonly quick: boolean },
): Promise<Samples> {
  const samples: Samples = {};
  const run = async (subject: string, options: TakeOptions) => {
    const figures = await options.sample(programs.command(subject, options))
      .catch((cause) => {
        throw new Error(`Cannot measure ${subject}`, { cause });
      });
    for (const [row, figure] of Object.entries(figures)) {
      ((samples[row] ??= {})[subject] ??= []).push(figure);
    }
  };
  await table.measure({
    quick,
    forms: programs.forms,
    async take(options) {
      for (let left = quick ? 1 : options.rounds; left > 0; left--) {
        const running = [];
        for (const subject of table.subjects) {
          running.push(run(subject, options));
          if (!options.together) await running.at(-1);
        }
        await Promise.all(running);
      }
    },
  });
  return samples;
}

/** The value that a share of all values does not exceed, interpolated. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = share * (sorted.length - 1);
  const below = sorted[Math.floor(position)] ?? NaN;
  const above = sorted[Math.ceil(position)] ?? NaN;
  return below + (above - below) * (position % 1);
}
