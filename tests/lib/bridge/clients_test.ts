import { play } from "../../support/bridge_transcript.ts";

const file = new URL("clients.txt", import.meta.url);
const [, ...clients] = Deno.readTextFileSync(file).split(/^# /m);
for (const client of clients) {
  const [name = "", ...transcript] = client.split("\n");
  Deno.test(`${name} gets its answers from initialize to the end`, async () => {
    await play(transcript.join("\n"));
  });
}
