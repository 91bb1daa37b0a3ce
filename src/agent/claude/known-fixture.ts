/** What the tests of this folder know of a session. */
import type { Known } from "../contract.ts";
import { plainLaunch } from "../../session/plain-launch.ts";

export function knownWith(changes: Partial<Known>): Known {
  return {
    nativeId: "11111111-1111-4111-8111-111111111114",
    transcriptPath: null,
    version: "2.1.325",
    launch: plainLaunch("/home/user/project/app", { paths: { HOME: "/home/user" } }),
    activity: "idle",
    turnOpen: false,
    lastVerdict: null,
    approvals: [],
    background: [],
    ...changes,
  };
}
