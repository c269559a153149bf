/** A graph without a model. `agent.mjs` tells what each prompt does. */
// @ts-ignore: It is in the folder that REAL_SERVICES names.
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

async function write({ messages }) {
  const prompt = messages.at(-1).content;
  if (prompt === "wait") await new Promise(() => {});
  if (prompt === "fail") throw new Error("node write: no quota is left");
  const content = prompt === "say nothing" ? "" : `You said: ${prompt}`;
  return { messages: [{ role: "assistant", content }] };
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("plan", () => ({}))
  .addNode("write", write)
  .addEdge(START, "plan")
  .addEdge("plan", "write");
