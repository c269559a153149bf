/**
 * One prompt by LangGraph's client on the same three paths; prints the reply.
 *
 *     node langgraph_prompt.mjs TEXT
 */
import process from "node:process";

// Dynamic, as Deno's check of this folder has no such package.
const { Client } = await import("@langchain/langgraph-sdk");

const { threads, runs } = new Client({
  apiUrl: process.env.APP_BASE_URL,
  apiKey: process.env.APP_API_KEY,
});
const { thread_id } = await threads.create();
const { run_id } = await runs.create(thread_id, "the-brain", {
  input: { prompt: process.argv[2] },
});
for await (const { data } of runs.joinStream(thread_id, run_id)) {
  if (data.event === "complete") console.log(data.instructorState.explanation);
}
