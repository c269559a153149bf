/**
 * The floor of one prompt: the least code that makes the three requests with
 * `fetch` and prints the reply.
 *
 * ```sh
 * deno run --allow-net --allow-env tools/bench/peers/prompt_floor.ts TEXT
 * ```
 *
 * @module
 */
const url = Deno.env.get("APP_BASE_URL");
const headers = { "x-api-key": Deno.env.get("APP_API_KEY") ?? "" };
const [prompt] = Deno.args;

const { thread_id } = await post("/threads");
const runs = `/threads/${thread_id}/runs`;
const { run_id } = await post(
  runs,
  JSON.stringify({ agentName: "the-brain", prompt, wait: false }),
);
const stream = await fetch(`${url}${runs}/${run_id}/stream`, { headers });
const [complete = ""] = (await stream.text()).match(/\{"event":"complete".*/) ??
  [];
console.log(JSON.parse(complete).instructorState.explanation);
Deno.exit(); // An open connection would keep the process alive.

async function post(
  path: string,
  body?: string,
): Promise<{ thread_id: string; run_id: string }> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: body ?? null,
  });
  return await response.json();
}
