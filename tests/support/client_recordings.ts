/** What a client does in a conversation, in order. */
export type Step =
  /**
   * A line that the client sends. `SESSION` is replaced by the id of its session.
   * A request is answered before the next step, unless the next one cancels it.
   */
  | string
  /** The client starts a second bridge process, because the first one has ended. */
  | "restart";

/** The messages of one client, as it writes them. */
export interface ClientRecording {
  /** The client with its version, and how the recording was made. */
  readonly client: string;
  readonly steps: readonly Step[];
  /** The client's answers to `fs/read_text_file`, by path. Other paths are errors. */
  readonly files?: Readonly<Record<string, string>>;
  /** The prompts that the service has to receive. */
  readonly prompts: readonly string[];
  /** The last reply that the client has to receive. */
  readonly reply: string;
}

const NOTES = "file:///home/me/notes.txt";

/**
 * One conversation of each client. That of acpx was recorded between the client
 * and the bridge; the others were written by hand from the clients' sources at
 * the versions named, member by member.
 */
export const CLIENT_RECORDINGS: readonly ClientRecording[] = [
  {
    client: "acpx 0.19.1 (recorded)",
    steps: [
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true},"clientInfo":{"name":"acpx","version":"0.19.1"}}}',
      '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/home/me","mcpServers":[]}}',
      "restart",
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true},"clientInfo":{"name":"acpx","version":"0.19.1"}}}',
      '{"jsonrpc":"2.0","id":1,"method":"session/resume","params":{"sessionId":"SESSION","cwd":"/home/me","mcpServers":[]}}',
      '{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"one"}]}}',
      "restart",
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true},"clientInfo":{"name":"acpx","version":"0.19.1"}}}',
      '{"jsonrpc":"2.0","id":1,"method":"session/resume","params":{"sessionId":"SESSION","cwd":"/home/me","mcpServers":[]}}',
      '{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"what did I say before?"}]}}',
    ],
    prompts: ["one", "what did I say before?"],
    reply: "Earlier on this thread you said:\n1. one",
  },
  {
    client: "agent-shell with acp.el at 4d7d58d",
    steps: [
      '{"jsonrpc":"2.0","method":"initialize","id":1,"params":{"clientInfo":{"name":"agent-shell","title":"Emacs Agent Shell","version":"0.79.2"},"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}}}}',
      '{"jsonrpc":"2.0","method":"session/new","id":2,"params":{"cwd":"/home/me","mcpServers":[]}}',
      `{"jsonrpc":"2.0","method":"session/prompt","id":3,"params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"explain"},{"type":"resource","resource":{"uri":"${NOTES}","text":"Remember the milk.\\n","mimeType":"text/plain"}},{"type":"text","text":" please"}]}}`,
      // A file over the client's limit for embedded files
      '{"jsonrpc":"2.0","method":"session/prompt","id":4,"params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"and"},{"type":"resource_link","uri":"file:///home/me/long.txt","name":"long.txt","mimeType":"text/plain","size":200000}]}}',
      '{"jsonrpc":"2.0","method":"session/prompt","id":5,"params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"please hang"}]}}',
      '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"SESSION","reason":"User cancelled"}}',
      "restart",
      '{"jsonrpc":"2.0","method":"initialize","id":1,"params":{"clientInfo":{"name":"agent-shell","title":"Emacs Agent Shell","version":"0.79.2"},"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}}}}',
      '{"jsonrpc":"2.0","method":"session/resume","id":2,"params":{"sessionId":"SESSION","cwd":"/home/me","mcpServers":[]}}',
      '{"jsonrpc":"2.0","method":"session/prompt","id":3,"params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"6 * 7"}]}}',
    ],
    files: { "/home/me/long.txt": "long\n" },
    prompts: [
      `explain[notes.txt](${NOTES}) please\n\n<context uri="${NOTES}">\nRemember the milk.\n</context>`,
      'and[long.txt](file:///home/me/long.txt)\n\n<context uri="file:///home/me/long.txt">\nlong\n</context>',
      "please hang",
      "6 * 7",
    ],
    reply: "6 * 7 = 42",
  },
  {
    client: "CodeCompanion 19 at f1afd025",
    steps: [
      '{"id":1,"jsonrpc":"2.0","method":"initialize","params":{"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}},"clientInfo":{"name":"CodeCompanion.nvim","version":"1.0.0"},"protocolVersion":1}}',
      '{"id":2,"jsonrpc":"2.0","method":"session/new","params":{"cwd":"/home/me","mcpServers":[]}}',
      // The text of an attached buffer, and the question
      '{"id":3,"jsonrpc":"2.0","method":"session/prompt","params":{"prompt":[{"text":"<attachment filepath=\\"notes.txt\\">Remember the milk.</attachment>","type":"text"},{"text":"what is it about?","type":"text"}],"sessionId":"SESSION"}}',
      '{"id":4,"jsonrpc":"2.0","method":"session/prompt","params":{"prompt":[{"text":"please hang","type":"text"}],"sessionId":"SESSION"}}',
      '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"SESSION"}}',
      '{"id":5,"jsonrpc":"2.0","method":"session/prompt","params":{"prompt":[{"text":"hello","type":"text"}],"sessionId":"SESSION"}}',
    ],
    prompts: [
      '<attachment filepath="notes.txt">Remember the milk.</attachment>\nwhat is it about?',
      "please hang",
      "hello",
    ],
    reply: "Hello! I am the-brain. Ask me something, or what you said before.",
  },
  {
    client: "avante.nvim at a9334315",
    steps: [
      '{"method":"initialize","params":{"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}},"protocolVersion":1},"jsonrpc":"2.0","id":1}',
      '{"method":"session/new","params":{"mcpServers":[],"cwd":"/home/me"},"jsonrpc":"2.0","id":2}',
      // The path is not encoded in the URI
      '{"method":"session/prompt","params":{"prompt":[{"name":"my notes.txt","uri":"file:///home/me/my notes.txt","type":"resource_link"},{"name":"gone.txt","uri":"file:///home/me/gone.txt","type":"resource_link"},{"text":"what do they say?","type":"text"}],"sessionId":"SESSION"},"jsonrpc":"2.0","id":3}',
      '{"method":"session/prompt","params":{"prompt":[{"text":"please hang","type":"text"}],"sessionId":"SESSION"},"jsonrpc":"2.0","id":4}',
      '{"method":"session/cancel","params":{"sessionId":"SESSION"},"jsonrpc":"2.0"}',
      '{"method":"session/prompt","params":{"prompt":[{"text":"6 * 7","type":"text"}],"sessionId":"SESSION"},"jsonrpc":"2.0","id":5}',
    ],
    files: { "/home/me/my notes.txt": "Remember the milk." },
    prompts: [
      "[my notes.txt](file:///home/me/my notes.txt)[gone.txt](file:///home/me/gone.txt)what do they say?" +
      '\n\n<context uri="file:///home/me/my notes.txt">\nRemember the milk.\n</context>',
      "please hang",
      "6 * 7",
    ],
    reply: "6 * 7 = 42",
  },
  {
    client: "Zed at 0038d2e2",
    steps: [
      '{"jsonrpc":"2.0","id":"5a1f0a4e-58a5-4c94-8a3c-1f1f3d6f0001","method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"auth":{"terminal":true},"session":{"configOptions":{"boolean":{}}},"elicitation":{"form":{},"url":{}},"_meta":{"terminal_output":true,"terminal-auth":true}},"clientInfo":{"name":"zed","title":"Zed","version":"1.0.0"}}}',
      '{"jsonrpc":"2.0","id":"5a1f0a4e-58a5-4c94-8a3c-1f1f3d6f0002","method":"session/new","params":{"cwd":"/home/me","mcpServers":[]}}',
      `{"jsonrpc":"2.0","id":"5a1f0a4e-58a5-4c94-8a3c-1f1f3d6f0003","method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"explain "},{"type":"resource","resource":{"mimeType":null,"text":"Remember the milk.\\n","uri":"${NOTES}"}},{"type":"text","text":" please"}]}}`,
      '{"jsonrpc":"2.0","id":"5a1f0a4e-58a5-4c94-8a3c-1f1f3d6f0004","method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"please hang"}]}}',
      '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"SESSION"}}',
      '{"jsonrpc":"2.0","id":"5a1f0a4e-58a5-4c94-8a3c-1f1f3d6f0005","method":"session/close","params":{"sessionId":"SESSION"}}',
      '{"jsonrpc":"2.0","id":"5a1f0a4e-58a5-4c94-8a3c-1f1f3d6f0006","method":"session/resume","params":{"sessionId":"SESSION","cwd":"/home/me","mcpServers":[]}}',
      '{"jsonrpc":"2.0","id":"5a1f0a4e-58a5-4c94-8a3c-1f1f3d6f0007","method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"6 * 7"}]}}',
    ],
    prompts: [
      `explain [notes.txt](${NOTES}) please\n\n<context uri="${NOTES}">\nRemember the milk.\n</context>`,
      "please hang",
      "6 * 7",
    ],
    reply: "6 * 7 = 42",
  },
  {
    client: "ACP Client for VS Code 0.2.0",
    steps: [
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"vscode-acp-client","version":"0.2.0"},"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}}}',
      '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/home/me","mcpServers":[]}}',
      '{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"one"}]}}',
      '{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"please hang"}]}}',
      '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"SESSION"}}',
      "restart",
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"vscode-acp-client","version":"0.2.0"},"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}}}',
      '{"jsonrpc":"2.0","id":1,"method":"session/resume","params":{"sessionId":"SESSION","cwd":"/home/me","mcpServers":[]}}',
      '{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":"what did I say before?"}]}}',
    ],
    prompts: ["one", "please hang", "what did I say before?"],
    reply: "Earlier on this thread you said:\n1. one\n2. please hang",
  },
];
