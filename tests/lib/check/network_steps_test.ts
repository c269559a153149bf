import { assertEquals, assertRejects } from "@std/assert";
import { connect, openResolver } from "../../../lib/check/network_steps.ts";

Deno.test("openResolver() resolves an address of IPv6 to itself", async () => {
  const resolve = await openResolver();
  assertEquals(await resolve(new URL("http://[::1]:80")), ["::1"]);
});

const PORTS = {
  "http://a.test": 80,
  "https://a.test": 443,
  "https://a.test:8443": 8443,
  "socks5://a.test": 1080,
};

for (const [url, port] of Object.entries(PORTS)) {
  Deno.test(`connect() uses port ${port} for ${url}`, async () => {
    const original = Deno.connect;
    const ports: unknown[] = [];
    Deno.connect = (options: object) => {
      ports.push("port" in options && options.port);
      return Promise.reject<never>(new Error("refused"));
    };
    try {
      await assertRejects(() => connect(["192.0.2.1"], new URL(url)));
    } finally {
      Deno.connect = original;
    }
    assertEquals(ports, [port]);
  });
}
