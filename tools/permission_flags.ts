import config from "../deno.json" with { type: "json" };

/** The client's permissions, as flags of `deno run` and `deno compile`. */
export const clientPermissionFlags: readonly string[] = [
  ...Object.entries(config.permissions.client).map(([name, value]) =>
    value === true ? `--allow-${name}` : `--allow-${name}=${value}`
  ),
  "--no-prompt",
];
