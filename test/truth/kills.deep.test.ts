/**
 * A short run of what kills the daemon under
 * load. The long one: npm run truth -- --kills 1000.
 */
import { expect, test } from "vitest";
import { runKills } from "./kills.ts";

test(
  "15 random kill -9 with 6 sessions that are sent messages: none lost, doubled, fused or orphaned",
  { timeout: 600_000 },
  async () => {
    const result = await runKills({ kills: 15, sessions: 6, seed: "test", agents: ["codex"] });
    expect(result.findings).toEqual([]);
    expect(result).toMatchObject({ kills: 15, sessions: 6 });
    expect(result.recoveries).toHaveLength(15);
    expect(result.sent).toBeGreaterThan(0);
    expect(result.delivered).toBeGreaterThan(0);
  },
);
