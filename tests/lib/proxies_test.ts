import { assert, assertEquals } from "@std/assert";
import { ignoreProxies, proxyFor } from "../../lib/proxies.ts";

const VARIABLES = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"]
  .flatMap((name) => [name, name.toUpperCase()]);

/** Calls `act` where no other variable for proxies is set. */
function withVariables<T>(
  variables: Readonly<Record<string, string>>,
  act: () => T,
): T {
  const before = VARIABLES.map((name) => Deno.env.get(name));
  try {
    for (const name of VARIABLES) Deno.env.delete(name);
    for (const [name, value] of Object.entries(variables)) {
      Deno.env.set(name, value);
    }
    return act();
  } finally {
    VARIABLES.forEach((name, index) => {
      const value = before[index];
      if (value === undefined) Deno.env.delete(name);
      else Deno.env.set(name, value);
    });
  }
}

const PROXY = "http://proxy.test:3128";
const HTTPS_PROXY = { HTTPS_PROXY: PROXY };

// Each as observed with `fetch` of Deno 2.9.6.
for (
  const [what, variables, expected] of [
    ["no variable", {}, undefined],
    ["HTTPS_PROXY", HTTPS_PROXY, "HTTPS_PROXY"],
    ["https_proxy", { https_proxy: PROXY }, "https_proxy"],
    ["HTTP_PROXY alone", { HTTP_PROXY: PROXY }, undefined],
    [
      "ALL_PROXY before HTTPS_PROXY",
      { ...HTTPS_PROXY, ALL_PROXY: PROXY },
      "ALL_PROXY",
    ],
    ["a blank ALL_PROXY", { ...HTTPS_PROXY, ALL_PROXY: "" }, "HTTPS_PROXY"],
    ["an ALL_PROXY that is none", {
      ...HTTPS_PROXY,
      ALL_PROXY: "http://[",
    }, "HTTPS_PROXY"],
    ["NO_PROXY", { ...HTTPS_PROXY, NO_PROXY: "b, a.service.test" }, undefined],
    ["no_proxy", { ...HTTPS_PROXY, no_proxy: "a.service.test" }, undefined],
    ["NO_PROXY before no_proxy", {
      ...HTTPS_PROXY,
      NO_PROXY: "",
      no_proxy: "service.test",
    }, "HTTPS_PROXY"],
    ["its domain", { ...HTTPS_PROXY, NO_PROXY: "service.test" }, undefined],
    ["its domain and a dot", {
      ...HTTPS_PROXY,
      NO_PROXY: ".service.test",
    }, undefined],
    ["all hosts", { ...HTTPS_PROXY, NO_PROXY: "*" }, undefined],
    [
      "the end of a label",
      { ...HTTPS_PROXY, NO_PROXY: "ice.test" },
      "HTTPS_PROXY",
    ],
    [
      "a port",
      { ...HTTPS_PROXY, NO_PROXY: "a.service.test:443" },
      "HTTPS_PROXY",
    ],
  ] as const
) {
  Deno.test(`proxyFor() with ${what} yields ${expected}`, () => {
    const url = new URL("https://a.service.test/api");
    const proxy = withVariables(variables, () => proxyFor(url));
    assertEquals(
      proxy,
      expected && { variable: expected, origin: "http://proxy.test:3128" },
    );
  });
}

Deno.test("proxyFor() shows neither user nor password", () => {
  const variables = { HTTPS_PROXY: "me:secret@proxy.test:3128/path" };
  const url = new URL("https://service.test");
  assertEquals(
    withVariables(variables, () => proxyFor(url))?.origin,
    "http://proxy.test:3128",
  );
});

Deno.test("proxyFor() compares addresses in NO_PROXY as addresses", () => {
  const url = new URL("https://10.0.0.7");
  for (const list of ["10.0.0.7", "10.0.0.0/8"]) {
    const variables = { ...HTTPS_PROXY, NO_PROXY: list };
    assertEquals(withVariables(variables, () => proxyFor(url)), undefined);
  }
  const variables = { ...HTTPS_PROXY, NO_PROXY: "10.0.0.8" };
  assert(withVariables(variables, () => proxyFor(url)) !== undefined);
});

Deno.test("ignoreProxies() forgets every proxy of the environment, in upper and lower case", () => {
  const names = ["http_proxy", "https_proxy", "all_proxy"]
    .flatMap((name) => [name, name.toUpperCase()]);
  const variables = Object.fromEntries(names.map((name) => [name, PROXY]));
  withVariables(variables, () => {
    ignoreProxies();
    assert(names.every((name) => Deno.env.get(name) === undefined));
  });
});
