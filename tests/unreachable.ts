/** A URL of this machine at which nothing answers. */
export function unreachable(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return `http://127.0.0.1:${listener.addr.port}/`;
}
