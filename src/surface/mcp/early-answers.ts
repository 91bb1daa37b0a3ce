/**
 * Answers what every client asks first (who are you, which tools are there)
 * before the SDK is loaded: an agent that waits too long goes on without its
 * tools. The answers are those of the SDK (early-answers.test.ts), which hears
 * the questions later, so that it knows its client. What is not answered here
 * is answered by the SDK.
 */
import { type Fields, fieldsOrNull } from "../../platform/json-fields.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import { capabilitiesFor, RESOURCES, serverName, toolsFor } from "./introduction.ts";

export const MODERN_VERSION = "2026-07-28";
/** The newest first: it is offered to a client that asks for one that is unknown. */
export const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

const META = "io.modelcontextprotocol";

/** Null: not here. */
export type EarlyAnswers = (message: Fields) => Fields | null;

export function earlyAnswers(about: { readonly version: string; readonly isSession: boolean }): EarlyAnswers {
  let isInitialized = false;

  function resultOf(method: unknown, params: Fields): Fields | null {
    if (method === "initialize") {
      const result = isInitialized ? null : initialize(params);
      if (result !== null) isInitialized = true;
      return result;
    }
    const isModern = isModernCall(params);
    const wrap = (result: Fields): Fields => (isModern ? { ...result, ...wrapper() } : result);
    if (method === "server/discover" && isModern && !isInitialized)
      return wrap({
        supportedVersions: [MODERN_VERSION],
        capabilities: capabilitiesFor("modern", true),
        instructions: INSTRUCTIONS,
      });
    const lists = isInitialized !== isModern && params["cursor"] === undefined;
    if (method === "tools/list" && lists) return wrap({ tools: toolsFor(about) });
    if (method === "resources/list" && lists) return wrap({ resources: RESOURCES });
    return null;
  }

  function initialize({ protocolVersion, capabilities, clientInfo }: Fields): Fields | null {
    const client = fieldsOrNull(clientInfo);
    const isWhole = typeof client?.["name"] === "string" && typeof client["version"] === "string";
    if (typeof protocolVersion !== "string" || fieldsOrNull(capabilities) === null || !isWhole) return null;
    return {
      protocolVersion: LEGACY_VERSIONS.find((version) => version === protocolVersion) ?? LEGACY_VERSIONS[0],
      capabilities: capabilitiesFor("legacy", true),
      serverInfo: serverName(about.version),
      instructions: INSTRUCTIONS,
    };
  }

  function wrapper(): Fields {
    const meta = { [`${META}/serverInfo`]: serverName(about.version) };
    return { resultType: "complete", ttlMs: 0, cacheScope: "private", _meta: meta };
  }

  return ({ id, method, params }) => {
    const result = resultOf(method, fieldsOrNull(params) ?? {});
    return result === null ? null : { jsonrpc: "2.0", id, result };
  };
}

function isModernCall(params: Fields): boolean {
  const meta = fieldsOrNull(params["_meta"]) ?? {};
  const isWhole = ["clientInfo", "clientCapabilities"].every((name) => fieldsOrNull(meta[`${META}/${name}`]) !== null);
  return meta[`${META}/protocolVersion`] === MODERN_VERSION && isWhole;
}
