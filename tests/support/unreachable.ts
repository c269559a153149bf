/**
 * An address of this machine that no test's service uses, so that a released port
 * of it is not taken by another test. (macOS has only one address.)
 */
export const QUIET_HOST = Deno.build.os === "darwin"
  ? "127.0.0.1"
  : "127.0.0.2";

/** A base URL of this machine at which nothing answers. */
export function unreachable(): string {
  using listener = Deno.listen({ hostname: QUIET_HOST, port: 0 });
  return `http://${QUIET_HOST}:${listener.addr.port}`;
}
