/**
 * A graph without a model. `langgraph.mjs` adds what is refused and what breaks;
 * `fast_api.py` knows the same prompts.
 *
 * | prompt | run |
 * | --- | --- |
 * | `say nothing` | completes without a reply |
 * | `fail` | fails in its second node |
 * | `wait` | never ends its second node |
 * | `be refused` | cannot be started: the code that starts it throws |
 * | `break before` | the code that streams it throws before the first event |
 * | `break during` | the code that streams it throws once, after the first event |
 * | anything else | replies `You said: ` and the prompt |
 */
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
