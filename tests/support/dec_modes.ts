/**
 * The DEC modes that some output leaves otherwise than they were, as a terminal with
 * XTSAVE and XTRESTORE would have them; each was on, or each was off.
 */
export function changedModes(output: string, wereOn: boolean): number[] {
  const modes = new Map<number, boolean>();
  const kept = new Map<number, boolean>();
  for (const [, numbers = "", final] of output.matchAll(DEC_MODES)) {
    for (const mode of numbers.split(";").map(Number)) {
      if (final === "s") kept.set(mode, modes.get(mode) ?? wereOn);
      else {modes.set(
          mode,
          final === "r" ? kept.get(mode) ?? false : final === "h",
        );}
    }
  }
  return [...modes].filter(([, isOn]) => isOn !== wereOn).map(([mode]) => mode);
}

// deno-lint-ignore no-control-regex
const DEC_MODES = /\x1b\[\?([\d;]+)([hlsr])/g;
