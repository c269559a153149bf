import { assertEquals } from "@std/assert";
import { isExcluded } from "../../../lib/settings/no_proxy.ts";

const NAME = "https://a.service.test";
const PORT = "https://a.service.test:8443";
const V4 = "https://10.0.0.7";
const V6 = "https://[fd00::7]";

/** A URL, whether the lists exclude it, and the lists. */
const CASES: readonly (readonly [string, boolean, readonly string[]])[] = [
  [NAME, true, ["*", "b.test,*", "a.service.test", "service.test", "test:443"]],
  [NAME, true, [".service.test", "*.service.test", ".a.service.test"]],
  [NAME, true, ["A.Service.TEST", "service.test."]],
  [NAME, true, ["b.test, test", "b.test test", "b.test,,  service.test ,"]],
  [NAME, false, ["", ".", "ice.test", "b.a.service.test", "*ice.test"]],
  [NAME, false, ["service.test:8443", "https://a.service.test", "test/"]],
  [NAME, false, ["x@a.service.test", "a.*.test", "10.0.0.0/8", "[", "[]"]],
  ["https://a.service.test.", true, ["service.test"]],
  [PORT, true, ["service.test", "service.test:8443", "*.service.test:8443"]],
  [PORT, false, ["service.test:443", "service.test:", "service.test:8443:1"]],
  [V4, true, ["*", "10.0.0.7", "10.0.0.7:443"]],
  [V4, false, ["10.0.0.8 7", "0.0.7", ".0.0.7", "10.0.0.7:8443"]],
  [V4, false, ["10.0.0.0/8", "10.0.0.7/32", "a.service.test"]],
  [V6, true, ["*", "fd00::7", "FD00::7", "[fd00::7]", "[fd00::7]:443"]],
  [V6, true, ["fd00:0:0:0:0:0:0:7", "FD00::0007", "[fd00:0::0.0.0.7]:443"]],
  [V4, true, ["012.0.0.7", "0xa.0.0.7", "10.7", "167772167:443"]],
  [V6, false, ["[fd00::7]:8443", "fd00::7:443", "fd00::7%eth0", "[fd00::7"]],
  [V6, false, ["fd00::/8", "10.0.0.7", "fd00", "7"]],
];

for (const [url, isDirect, lists] of CASES) {
  Deno.test(`isExcluded() is ${isDirect} for ${url} and ${lists.join("; ")}`, () => {
    const answers = lists.map((list) => isExcluded(new URL(url), list));
    assertEquals(answers, lists.map(() => isDirect));
  });
}
