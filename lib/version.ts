import config from "../deno.json" with { type: "json" };

/** The program's version, as it stands in `deno.json`. */
export const VERSION: string = config.version;
