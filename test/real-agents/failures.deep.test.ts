/** The real agents refused by the scripted model: each failure reaches the record with its name. */
import { describe, expect, test } from "vitest";
import type { AgentCase } from "./rig.ts";
import { CASES } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { endNow } from "./session-steps.ts";

const PATIENCE = 120_000;

interface Expected {
  readonly agentCase: AgentCase;
  /** Claude Code reads the limits of a plan only with one. */
  readonly plan?: boolean;
  /** What the model does, and the kind of the failure; null where the agent waits by itself and gets on. */
  readonly steps: readonly (readonly [prompt: string, kind: string | null])[];
}

const codexSteps = [
  ["[[limit 1s]]", "quota-exhausted"],
  ["[[error billing]]", "billing"],
  ["[[error auth]]", "not-logged-in"],
  ["[[error context]]", "context-full"],
  ["[[disconnect]]", "network"],
] as const;

const cases: readonly Expected[] = [
  { agentCase: CASES.codexAppServer, steps: codexSteps },
  { agentCase: CASES.codexHooks, steps: codexSteps },
  {
    agentCase: CASES.claude,
    plan: true,
    steps: [
      ["[[error billing]]", "billing"],
      ["[[disconnect]]", "network"],
      ["[[limit 1s]]", "quota-exhausted"],
    ],
  },
  {
    agentCase: CASES.gemini,
    steps: [
      ["[[error auth]]", "not-logged-in"],
      ["[[limit 1s]] [[say on we go]]", null],
    ],
  },
];

describe.each(cases)("$agentCase.title", { timeout: 2 * PATIENCE }, ({ agentCase, plan = false, steps }) => {
  const rig = rigOf(agentCase, { agentHome: { plan } });

  test("says of which kind each failure is", async () => {
    const [[first] = [""], ...others] = steps;
    const { session_id: id } = await rig().start(first);
    await rig().wait(id);
    for (const [prompt] of others) await rig().home.run(["send", id, prompt, "--wait", "--timeout", "100"]);
    const ends = (await rig().events(id)).filter(({ type }) => type === "turn-failed" || type === "turn-completed");
    expect(ends.map(({ data }) => (data as { readonly failure?: string }).failure ?? null)).toEqual(
      steps.map(([, kind]) => kind),
    );
    await endNow(rig(), id);
  });
});
