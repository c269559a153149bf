/** The signatures of `@std/cli/parse-args` that the project uses. */

/** What to expect on the command line: the names of flags, by kind. */
export interface ParseOptions<
  B extends string,
  S extends string,
  C extends string,
  N extends string,
> {
  "--"?: boolean;
  alias?: Readonly<Record<string, string | readonly string[]>>;
  boolean?: boolean | B | readonly B[];
  collect?: C | readonly C[];
  default?: Readonly<Record<string, unknown>>;
  negatable?: N | readonly N[];
  stopEarly?: boolean;
  string?: S | readonly S[];
  /** Called for each argument that is not declared; `false` leaves it out. */
  unknown?: (arg: string, key?: string, value?: unknown) => unknown;
}

/** The values of the declared flags, and the other arguments under `_`. */
export type Args<B extends string, S extends string, C extends string> =
  & { [K in B]: boolean }
  & { [K in Exclude<S, C | "_">]?: string | undefined }
  & { [K in C]: string[] }
  & { _: "_" extends S ? string[] : (string | number)[]; "--"?: string[] };

export function parseArgs<
  const B extends string = never,
  const S extends string = never,
  const C extends string = never,
  const N extends string = never,
>(args: string[], options?: ParseOptions<B, S, C, N>): Args<B, S, C>;
