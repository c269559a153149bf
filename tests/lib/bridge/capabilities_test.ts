import { assertEquals } from "@std/assert";
import { clientIn } from "../../../lib/bridge/capabilities.ts";
import { testRows } from "../../support/tables.ts";

testRows(
  'clientIn() finds in the params {params} of initialize: "{found}"',
  "params | found",
  `
{"protocolVersion":1}                                    | takesTitles
{"clientInfo":{"name":"zed"}}                            | isZed
{"clientCapabilities":{"fs":{"readTextFile":true}}}      | readsFiles
{"clientCapabilities":{"session":{"notices":{}}}}        | showsNotices
null                                                     |
{}                                                       |
[]                                                       |
"x"                                                      |
{"clientInfo":{"name":"Zed"}}                            |
{"clientInfo":"zed"}                                     |
{"fs":{"readTextFile":true}}                             |
{"clientCapabilities":null}                              |
{"clientCapabilities":{"fs":{"writeTextFile":true},"session":null}} |
{"clientCapabilities":{"fs":{"readTextFile":"true"}}}    |
{"clientCapabilities":{"session":{"notices":null}}}      |
`,
  ({ params, found }) => {
    const client = Object.entries(clientIn(JSON.parse(params)));
    const features = client.filter(([, has]) => has).map(([name]) => name);
    assertEquals(features.join(), found);
  },
);
