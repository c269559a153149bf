import { assertEquals, assertThrows } from "@std/assert";
import { type Proxy, takeProxy } from "../../../lib/settings/proxy.ts";
import { SettingsError } from "../../../lib/settings/settings_error.ts";
import { blocksOf } from "../../support/blocks.ts";
import { PROXY_VARIABLES, withVariables } from "../../support/environment.ts";

const SERVICE = new URL("https://service.test");
const A = "http://a.test:3128";

type Variables = Readonly<Record<string, string>>;

function take(variables: Variables): Proxy | undefined {
  return withVariables(variables, () => takeProxy(SERVICE, false));
}

/** Which variable is used of those that are set. */
const CHOICES = blocksOf(`
HTTPS_PROXY
  HTTPS_PROXY=A ALL_PROXY=?
  HTTPS_PROXY=A https_proxy= all_proxy=A
  HTTPS_PROXY=A NO_PROXY=* no_proxy=other.test
https_proxy
  HTTPS_PROXY=A https_proxy=A
all_proxy
  ALL_PROXY=A all_proxy=A
undefined
  HTTP_PROXY=A http_proxy=A
  HTTPS_PROXY=? NO_PROXY=service.test
  HTTPS_PROXY=A NO_PROXY=* no_proxy=
`);

for (const [variable, starts] of CHOICES) {
  for (const start of starts) {
    Deno.test(`takeProxy() takes ${variable} of ${start}`, () => {
      const words = start.replaceAll("=A", `=${A}`).split(" ");
      const proxy = take(Object.fromEntries(words.map((it) => it.split("="))));
      assertEquals(`${proxy?.variable}`, variable);
    });
  }
}

Deno.test("takeProxy() leaves no variable about proxies, whatever they hold, and takes none for this machine", () => {
  const names = [...PROXY_VARIABLES, "no_proxy", "NO_PROXY"];
  withVariables(Object.fromEntries(names.map((name) => [name, "?"])), () => {
    assertEquals(takeProxy(new URL("https://localhost"), true), undefined);
    assertEquals(names.filter((name) => Deno.env.has(name)), []);
  });
});

/** Values by what is made of them: the origin, user and password. */
const TAKEN = blocksOf(`
http://proxy.test:80 as :
  http://proxy.test
https://proxy.test:443 as :
  HTTPS://Proxy.TEST/
socks5://10.0.0.7:1080 as :
  socks5://10.0.0.7
socks5h://proxy.test:1 as :
  socks5h://proxy.test:1
http://proxy.test:3128 as :
  proxy.test:3128
http://proxy.test:65535 as al:secret
  al:secret@proxy.test:65535
http://[fd00::7]:3128 as :
  http://[fd00::0:7]:3128
http://my_proxy-1.test:80 as al:
  http://al@my_proxy-1.test
http://proxy.test:80 as :pw
  http://:pw@proxy.test
http://proxy.test:80 as a:b:c
  http://a:b:c@proxy.test
http://p:80 as al::/@% !~
  http://al:%3a%2F%40%25%20!~@p
http://p:80 as al:\u00c3\u00bc\u00fc
  http://al:%C3%BC%FC@p
socks5://p:1080 as al:${"p".repeat(255)}
  socks5://al:${"p".repeat(255)}@p
`);

for (const [outcome, values] of TAKEN) {
  for (const value of values) {
    Deno.test(`takeProxy() takes ${value} for ${outcome}`, () => {
      const { scheme, origin, user, password } = take({ ALL_PROXY: value }) ??
        {};
      assertEquals(`${origin} as ${user}:${password}`, outcome);
      assertEquals(scheme, outcome.split(":")[0]);
    });
  }
}

/** Malformed values by what is told of them. */
const REFUSED = blocksOf(`
the user name or password contains a special character; percent-encode it (@ is %40)
  http://al:geheimÜ@proxy:3128
  al:se cret@proxy:3128
  http://al:se/cret@proxy
  http://al:se#cret@proxy
  http://al:se?cret@proxy
  http://al:se@cret@proxy
  http://al:se%cret@proxy
  socks5://al:secret%4@proxy
  http://al:se\\tcret@proxy
  http://al:secret\ufffd@proxy
remove the spaces or quotes around its value
   http://secret:3128
  http://secret:3128\\n
  "http://secret:3128"
  'secret:3128'
  \u0020
its scheme must be http, https, socks5 or socks5h
  htp://secret:3128
  socks4://al:secret@proxy
  socks://secret
  http+x://secret:3128
  file://secret
it must look like http://user:password@host:port
  http://
  http:///
  ://secret:3128
  http:/secret:3128
  http//secret:3128
  http://secret:
  http://secret:31a
  al@
  http://secret:3128/path
  http://secret:3128?a
  http://secret#a
  http://fd00::7:3128
  http://[secret]:3128
  http://256.0.0.1
  http://secret,http://b.test
  http://al:secret@
  http://secrét:1
  http://al:secret
  http://[fd00::7:3128
its port must be between 1 and 65535
  http://secret:0
  http://secret:65536
  secret:99999999999
it needs a scheme or a port
  secret
  al:1@secret
`);

for (const [reason, values] of REFUSED) {
  for (const value of values) {
    Deno.test(`takeProxy() refuses ${JSON.stringify(value.slice(0, 40))}, and does not show it: ${reason}`, () => {
      const variables = { HTTPS_PROXY: value, ALL_PROXY: A };
      const { message } = assertThrows(() => take(variables), SettingsError);
      assertEquals(message, `HTTPS_PROXY: ${reason}`);
    });
  }
}
