/**
 * The DEC modes that some output leaves otherwise than they were, as a terminal with
 * XTSAVE and XTRESTORE would have them; each was on, or each was off.
 */
export function changedModes(output: string, wereOn: boolean): string[] {
  const modes = new Map<string, boolean>();
  const kept = new Map<string, boolean>();
  for (const [, mode = "", final] of output.matchAll(DEC_MODE)) {
    if (final === "s") kept.set(mode, modes.get(mode) ?? wereOn);
    else {modes.set(
        mode,
        final === "r" ? kept.get(mode) === true : final === "h",
      );}
  }
  return [...modes].flatMap(([mode, isOn]) => isOn === wereOn ? [] : [mode]);
}

// VTE saves and restores one mode at a time.
// deno-lint-ignore no-control-regex -- it is about escape codes
const DEC_MODE = /\x1b\[\?(\d+)([hlsr])/g;
