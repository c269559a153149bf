/**
 * Compiles `dist/agent-gateway.js` for this system, with the permissions that
 * the client needs: `dist/agent-gateway-TARGET`. `COMPILE_DENO` is the Deno
 * that does so, if it is set.
 *
 * @module
 */
import { clientPermissionFlags } from "./permission_flags.ts";

const { os, target } = Deno.build;
const dist = `${import.meta.dirname}/../dist`;
const name = `agent-gateway-${target}${os === "windows" ? ".exe" : ""}`;

const { success } = await new Deno.Command(
  Deno.env.get("COMPILE_DENO") ?? Deno.execPath(),
  {
    args: [
      ...["compile", "--quiet", "--no-config", "--no-check"],
      ...clientPermissionFlags,
      ...["--output", `${dist}/${name}`, `${dist}/agent-gateway.js`],
    ],
    stdout: "inherit",
    stderr: "inherit",
  },
).output();
if (!success) {
  console.error(`Cannot compile dist/${name}: see Deno's message above`);
  Deno.exit(1);
}
console.log(`dist/${name}`);
