/** The bridge's work, done by LangGraph's client on the same three paths. */
import process from "node:process";
import { serve, toLine, write } from "./json_rpc.mjs";

// Dynamic, as Deno's check of this folder has no such package.
const { Client } = await import("@langchain/langgraph-sdk");

const { threads, runs } = new Client({
  apiUrl: process.env.APP_BASE_URL,
  apiKey: process.env.APP_API_KEY,
});

serve({
  async newSession() {
    return (await threads.create()).thread_id;
  },
  async prompt(threadId, prompt) {
    const run = await runs.create(threadId, "the-brain", { input: { prompt } });
    for await (const { data } of runs.joinStream(threadId, run.run_id)) {
      const full = write(toLine(threadId, data));
      if (full) await full;
    }
  },
});
