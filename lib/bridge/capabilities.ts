/**
 * What the bridge and an editor tell each other of what they can: Agent Client
 * Protocol (ACP) version 1 (https://agentclientprotocol.com), with the additions of
 * interface 4.2.
 *
 * @module
 */

import { isJsonObject } from "../text.ts";
import { VERSION } from "../version.ts";

const NAME = "agent-gateway";
const TITLE = "Agent Gateway";

/**
 * The result of `initialize`. The bridge supports one protocol version, so the
 * result is the same for every version that a client asks for. Capabilities that
 * the bridge lacks are left out: some clients take a member that is `false` for
 * an offer.
 */
export const INITIALIZE_RESULT = {
  protocolVersion: 1,
  serverInfo: { name: NAME, version: VERSION },
  capabilities: { agents: true },
  agentInfo: { name: NAME, title: TITLE, version: VERSION },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { embeddedContext: true },
    sessionCapabilities: { close: {}, resume: {} },
  },
  authMethods: [],
} as const;

export const AGENTS_LIST_RESULT = {
  agents: [{
    id: "the-brain",
    name: "the-brain",
    title: "The Brain",
    description: "The remote agent that this client sends every prompt to",
  }],
} as const;

export interface Offers {
  readonly readsFiles: boolean;
  readonly showsNotices: boolean;
}

export const NO_OFFERS: Offers = { readsFiles: false, showsNotices: false };

export function offersIn(params: unknown): Offers {
  const capabilities = isJsonObject(params) && params.clientCapabilities;
  if (!isJsonObject(capabilities)) return NO_OFFERS;
  const { fs, session } = capabilities;
  return {
    readsFiles: isJsonObject(fs) && fs.readTextFile === true,
    showsNotices: isJsonObject(session) && isJsonObject(session.notices),
  };
}
