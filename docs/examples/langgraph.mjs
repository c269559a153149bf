/** A graph of LangGraph.js, to replace `think()` in `runs.mjs`. */
import * as langgraph from "@langchain/langgraph";

const { MemorySaver, MessagesAnnotation, START, StateGraph } = langgraph;

const graph = new StateGraph(MessagesAnnotation)
  .addSequence({ recall: () => ({}), answer })
  .addEdge(START, "recall")
  .compile({ checkpointer: new MemorySaver() });

// Your model: it gets all messages of the thread.
function answer({ messages }) {
  const prompts = messages.filter(({ type }) => type === "human");
  const said = prompts.map(({ content }) => content).join(", ");
  return { messages: [{ role: "assistant", content: `You said: ${said}` }] };
}

export async function* think(messages, thread_id) {
  const input = { messages: messages.slice(-1) };
  const config = { configurable: { thread_id }, streamMode: "updates" };
  for await (const update of await graph.stream(input, config)) {
    const [node] = Object.keys(update);
    yield { event: "progress", node, status: "done" };
  }
  const state = await graph.getState(config);
  const all = state.values.messages
    .map(({ type, content }) => ({ type, content }));
  yield { event: "complete", messages: all };
}
