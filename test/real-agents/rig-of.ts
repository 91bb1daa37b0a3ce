/** The rig of a test file or a describe block: made before its first test, disposed after its last. */
import { afterAll, beforeAll } from "vitest";
import type { AgentCase, Rig, RigOptions } from "./rig.ts";
import { createRig, disposeWhole } from "./rig.ts";

export function rigOf(agentCase: AgentCase, options: RigOptions = {}): () => Rig {
  let rig: Rig | undefined;
  beforeAll(async () => {
    rig = await createRig(agentCase, options);
  });
  afterAll(() => (rig === undefined ? undefined : disposeWhole(rig)), 60_000);
  return () => {
    if (rig === undefined) throw new Error("it is made before the first test");
    return rig;
  };
}
