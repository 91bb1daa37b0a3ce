/** What is known of a session, for the tests of this folder. */
import type { Known } from "../contract.ts";
import { plainLaunch } from "../../session/plain-launch.ts";

export const NATIVE_ID = "fbf73c74-b49f-4572-86b7-42484e7cf1f0";
export const TRANSCRIPT = "/home/user/.gemini/tmp/proj/chats/session-2026-11-15T23-29-fbf73c74.jsonl";

export function knownWith(changes: Partial<Known>): Known {
  return {
    nativeId: NATIVE_ID,
    transcriptPath: TRANSCRIPT,
    version: "0.61.0",
    launch: plainLaunch("/home/user/work/proj", { paths: { HOME: "/home/user" } }),
    activity: "working",
    turnOpen: true,
    lastVerdict: null,
    approvals: [],
    background: [],
    ...changes,
  };
}
