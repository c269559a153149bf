/** The port of a URL with `http:` or `https:`. */
export function portOf({ protocol, port }: URL): number {
  return Number(port || (protocol === "https:" ? 443 : 80));
}
