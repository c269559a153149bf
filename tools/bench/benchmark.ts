import { type Command, type Subjects, Unavailable } from "./subjects.ts";

/** What a benchmark is given. */
export interface BenchmarkContext {
  /** Whether to run small, only to see that everything still works. */
  readonly quick: boolean;
  /** The folder of the peers, or why there are none. */
  readonly peers: string | Unavailable;
  /** A folder for what a benchmark has to write, removed in the end. */
  readonly folder: string;
}

/** Measures one thing about several subjects. */
export type Benchmark = (
  context: BenchmarkContext,
) => Promise<readonly Measurement[]>;

/** What was measured of all subjects. The first of them is ours. */
export interface Measurement {
  readonly name: string;
  readonly unit: string;
  readonly results: readonly Result[];
  readonly targets: readonly Target[];
}

/** What was measured of one subject, or why nothing was. */
export interface Result {
  readonly subject: string;
  readonly samples: readonly number[];
  readonly unmeasured?: string;
}

/** What the median of ours has to be, or its ratio to another subject's. */
export interface Target {
  readonly against?: string;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** A unit, and what has to be reached in it. */
export interface Quantity {
  readonly unit: string;
  readonly targets?: readonly Target[];
}

/** Options of {@linkcode measure}. */
export interface MeasureOptions<Name extends string> {
  readonly subjects: Subjects;
  readonly rounds: number;
  /** What each sample holds. */
  readonly quantities: Readonly<Record<Name, Quantity>>;
  readonly sample: (
    command: Command,
    subject: string,
  ) => Promise<Readonly<Record<Name, number>>>;
}

/**
 * Measures subjects in turn, several times, so that whatever else the machine
 * does meets all of them. A peer that fails is left out; ours may not fail.
 */
export async function measure<Name extends string>(
  options: MeasureOptions<Name>,
): Promise<readonly Measurement[]> {
  const { subjects, rounds, quantities, sample } = options;
  const samples = new Map(
    [...subjects.keys()].map((name) =>
      [name, [] as Readonly<Record<Name, number>>[]] as const
    ),
  );
  const unmeasured = new Map<string, string>();
  const [ours] = subjects.keys();
  for (let round = 0; round < rounds; round++) {
    for (const [subject, command] of subjects) {
      if (unmeasured.has(subject)) continue;
      if (command instanceof Unavailable) {
        unmeasured.set(subject, command.reason);
        continue;
      }
      try {
        samples.get(subject)?.push(await sample(command, subject));
      } catch (error) {
        if (subject === ours || !(error instanceof Error)) throw error;
        unmeasured.set(subject, error.message);
      }
    }
  }
  const entries = Object.entries(quantities) as [Name, Quantity][];
  return entries.map(([name, { unit, targets = [] }]) => ({
    name,
    unit,
    targets,
    results: [...samples].map(([subject, taken]) => {
      const reason = unmeasured.get(subject);
      return reason === undefined
        ? { subject, samples: taken.map((sample) => sample[name]) }
        : { subject, samples: [], unmeasured: reason };
    }),
  }));
}
