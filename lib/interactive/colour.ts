import { environmentVariable } from "../environment_variable.ts";

/**
 * Tells whether text on a terminal may be styled: not with `NO_COLOR`
 * (https://no-color.org) or `TERM=dumb`.
 */
export function mayUseColour(): boolean {
  return environmentVariable("TERM") !== "dumb" &&
    (environmentVariable("NO_COLOR") ?? "") === "";
}
