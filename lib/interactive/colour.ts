import { environmentVariable } from "../environment_variable.ts";

/**
 * Whether text on a terminal may be styled: not if `NO_COLOR` is set
 * (https://no-color.org) or `TERM` is `dumb`.
 */
export function mayUseColour(): boolean {
  return environmentVariable("TERM") !== "dumb" &&
    (environmentVariable("NO_COLOR") ?? "") === "";
}
