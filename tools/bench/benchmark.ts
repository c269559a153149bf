import type { Programs } from "./programs.ts";
import { type Command, type Subjects, Unavailable } from "./subjects.ts";

/** The context of a benchmark. */
export interface BenchmarkContext {
  /** Whether to run with small sizes, only to check that everything works. */
  readonly quick: boolean;
  /** The folder of the peers, or the reason why there are none. */
  readonly peers: string | Unavailable;
  /** A folder for a benchmark's files, removed at the end. */
  readonly folder: string;
  /** Builds the programs, the first time that it is called. */
  readonly buildPrograms: () => Promise<Programs>;
}

/** Measures one thing about several subjects. */
export type Benchmark = (
  context: BenchmarkContext,
) => Promise<readonly Measurement[]>;

/** The results of all subjects. The first subject is ours. */
export interface Measurement {
  readonly name: string;
  readonly unit: string;
  readonly results: readonly Result[];
  readonly targets: readonly Target[];
}

/** The result of one subject, or the reason why there is none. */
export interface Result {
  readonly subject: string;
  readonly samples: readonly number[];
  readonly unmeasured?: string;
}

/** The goal for our median, or for its ratio to another subject's. */
export interface Target {
  readonly against?: string;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** A unit, and the goal in this unit. */
export interface Quantity {
  readonly unit: string;
  readonly targets?: readonly Target[];
}

/** Options of {@linkcode measure}. */
export interface MeasureOptions<Name extends string> {
  readonly subjects: Subjects;
  readonly rounds: number;
  /** Whether all subjects are measured at the same time. */
  readonly together?: boolean;
  /** The quantities in each sample. */
  readonly quantities: Readonly<Record<Name, Quantity>>;
  readonly sample: (
    command: Command,
    subject: string,
  ) => Promise<Readonly<Record<Name, number>>>;
}

/**
 * Measures subjects in turn, several times, so that other load on the machine
 * affects all of them. A peer that fails is left out; ours may not fail.
 */
export async function measure<Name extends string>(
  options: MeasureOptions<Name>,
): Promise<readonly Measurement[]> {
  const { subjects, rounds, together = false, quantities, sample } = options;
  const samples = new Map(
    [...subjects.keys()].map((name) =>
      [name, [] as Readonly<Record<Name, number>>[]] as const
    ),
  );
  const unmeasured = new Map<string, string>();
  const [ours] = subjects.keys();
  const take = async (subject: string, command: Command | Unavailable) => {
    if (unmeasured.has(subject)) return;
    if (command instanceof Unavailable) {
      unmeasured.set(subject, command.reason);
      return;
    }
    try {
      samples.get(subject)?.push(await sample(command, subject));
    } catch (error) {
      if (subject === ours || !(error instanceof Error)) throw error;
      unmeasured.set(subject, error.message);
    }
  };
  for (let round = 0; round < rounds; round++) {
    const taken = [];
    for (const [subject, command] of subjects) {
      const sampled = take(subject, command);
      if (together) taken.push(sampled);
      else await sampled;
    }
    await Promise.all(taken);
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
