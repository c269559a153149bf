/** An agent of the protocol's own library that answers `initialize`. */
import process from "node:process";
import { Readable, Writable } from "node:stream";

// Dynamic, as Deno's check of this folder takes another import map.
const { agent, methods, ndJsonStream } = await import(
  "@agentclientprotocol/sdk"
);

agent({ name: "peer" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: 1,
    agentCapabilities: { loadSession: false },
    authMethods: [],
  }))
  .connect(
    ndJsonStream(
      Writable.toWeb(process.stdout),
      Readable.toWeb(process.stdin),
    ),
  );
