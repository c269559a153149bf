import { environment, tls } from "./support/corporate_network.ts";
import { Editor } from "./support/editor.ts";
import { ReferenceService } from "./support/service/service.ts";
const sh = async (c: string) => new TextDecoder().decode((await new Deno.Command("sh", { args: ["-c", c] }).output()).stdout);
const say = (t: string) => Deno.writeTextFileSync("/tmp/scratch-company/core.out", t + "\n", { append: true });
Deno.test("core", async () => {
  await using service = ReferenceService.start({ tls, pace: 200 });
  await using editor = new Editor({ args: ["--bridge", "--verbose"], env: environment(service.url), startedBy: ["sh", "-c", 'echo $$ >/tmp/scratch-company/pid; exec "$@"', "sh"] });
  await editor.request("initialize");
  const { result } = await editor.request("session/new");
  await editor.prompt(result.sessionId, "count to 3");
  const pid = (await Deno.readTextFile("/tmp/scratch-company/pid")).trim();
  say("idle listeners: " + JSON.stringify(await sh(`ss -Hltnp | grep 'pid=${pid},'`)));
  const p = editor.prompt(result.sessionId, "please hang");
  await service.waitFor("stream", 2);
  await new Promise((r) => setTimeout(r, 300));
  say("streaming listeners: " + JSON.stringify(await sh(`ss -Hltnp | grep 'pid=${pid},'`)));
  const ports = (await sh(`ss -Htnp | grep 'pid=${pid},' | awk '{print $4" "$5}'`)).trim();
  say(ports);
  const core = "/tmp/scratch-company/core.bin";
  say("bytes " + await sh(`timeout 60 python3 /tmp/scratch-company/dump.py ${pid} ${core}`));
  say("logins: " + await sh(`grep -aoE 'relay.[0-9a-f]{8}-[0-9a-f-]{27}' ${core} | sort | uniq -c`));
  say("key: " + await sh(`grep -aoF 'test-key-0123456789abcdef' ${core} | wc -l`));
  const all = (await sh(`grep -aoE '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}' ${core} | sort -u`)).trim().split("\n");
  say(`uuids ${all.length}`);
  const counts = new Map<string, number>();
  for (const line of ports.split("\n")) for (const a of line.split(" ")) {
    const port = Number(a.split(":").at(-1));
    if (port === Number(new URL(service.url).port)) continue;
    for (const u of all) {
      let t = "";
      try {
        using c = await Deno.connect({ port });
        await c.write(new TextEncoder().encode(`\x05\x01\x02\x01\x05relay\x24${u}`));
        t = "connected";
      } catch (e) { t = (e as Error).name; }
      counts.set(t, (counts.get(t) ?? 0) + 1);
    }
  }
  say("replays: " + JSON.stringify([...counts]));
  editor.send?.({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: result.sessionId } } as never);
  Deno.kill(Number(pid), "SIGTERM");
  await p.catch(() => {});
});
