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
  [NAME, false, ["", "ice.test", "b.a.service.test", "*ice.test", "a.*.test"]],
  [NAME, false, ["service.test:8443", "https://a.service.test", "test/"]],
  [NAME, false, ["x@a.service.test", "10.0.0.0/8", "0.0.0.0/0", "[", "[]"]],
  ["https://a.service.test.", true, ["service.test"]],
  ["https://bücher.test", true, ["BÜCHER.test", "xn--bcher-kva.test"]],
  [PORT, true, ["service.test", "service.test:8443", "*.service.test:8443"]],
  [PORT, false, ["service.test:443", "service.test:", "service.test:8443:1"]],
  [V4, true, ["*", "10.0.0.7", "10.0.0.7:443", "10.0.0.0/8", "10.0.0.0/29"]],
  [V4, true, ["10.0.0.7/32", "9.9.9.9/0"]],
  [V4, false, ["10.0.0.8 7", "0.0.7", ".0.0.7", "10.0.0.7:8443", "10.0.0/8"]],
  [V4, false, ["10.0.0.0/30", "10.0.0.7/33", "10.0.0.7/", "10.0.0.7/8/8"]],
  [V4, false, ["10.0.0.0/8:443", "fd00::/8", "::/0", "a.service.test"]],
  [V6, true, ["*", "fd00::7", "FD00:0:0::0007", "[fd00::7]", "[fd00::7]:443"]],
  [V6, true, ["fd00::/8", "[fd00::]/8", "fc00::/7", "fd00::7/128"]],
  [V6, false, ["[fd00::7]:8443", "fd00::/128", "fd00::7%eth0", "[fd00::7"]],
  [V6, false, ["0.0.0.0/0", "10.0.0.7", "fd00::7/129", "fd00"]],
];

for (const [url, isDirect, lists] of CASES) {
  Deno.test(`isExcluded() is ${isDirect} for ${url} and ${lists.join("; ")}`, () => {
    const answers = lists.map((list) => isExcluded(new URL(url), list));
    assertEquals(answers, lists.map(() => isDirect));
  });
}
