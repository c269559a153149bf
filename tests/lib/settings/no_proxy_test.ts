import { assertEquals } from "@std/assert";
import { isExcluded } from "../../../lib/settings/no_proxy.ts";
import { blocksOf } from "../../support/blocks.ts";

const LISTS = blocksOf(`
https://a.service.test is in
  *
  b.test,*
  a.service.test
  service.test
  test:443
  .service.test
  *.service.test
  .a.service.test
  A.Service.TEST
  service.test.
  b.test, test
  b.test test
  b.test,,  service.test ,
https://a.service.test. is in
  service.test
https://a.service.test:8443 is in
  service.test
  service.test:8443
  *.service.test:8443
https://10.0.0.7 is in
  *
  10.0.0.7
  10.0.0.7:443
  012.0.0.7
  0xa.0.0.7
  10.7
  167772167:443
https://[fd00::7] is in
  *
  fd00::7
  FD00::7
  [fd00::7]
  [fd00::7]:443
  fd00:0:0:0:0:0:0:7
  FD00::0007
  [fd00:0::0.0.0.7]:443
https://a.service.test is not in
  \u0020
  .
  ice.test
  b.a.service.test
  *ice.test
  service.test:8443
  https://a.service.test
  test/
  x@a.service.test
  a.*.test
  10.0.0.0/8
  [
  []
https://a.service.test:8443 is not in
  service.test:443
  service.test:
  service.test:8443:1
https://10.0.0.7 is not in
  10.0.0.8 7
  0.0.7
  .0.0.7
  10.0.0.7:8443
  10.0.0.0/8
  10.0.0.7/32
  a.service.test
https://[fd00::7] is not in
  [fd00::7]:8443
  fd00::7:443
  fd00::7%eth0
  [fd00::7
  fd00::/8
  10.0.0.7
  fd00
  7
`);

for (const [outcome, lists] of LISTS) {
  Deno.test(`isExcluded(): ${outcome} ${lists.join("; ")}`, () => {
    const [url = ""] = outcome.split(" ");
    const isIn = lists.map((list) => isExcluded(new URL(url), list));
    assertEquals(isIn, lists.map(() => outcome.endsWith("is in")));
  });
}
