import { expect, test } from "vitest";
import { workItem } from "../../fleet/work-fixture.ts";
import type { WorkItem } from "../../fleet/work.ts";
import type { Quota } from "../../fleet/quota.ts";
import { plannedSession } from "../../session/session-fixture.ts";
import type { Session } from "../../session/session.ts";
import { worldOf, type WorldSources } from "./world-of-work.ts";

const quota = (account: string, dueAt: number | null): Quota => ({
  id: account,
  revision: 1,
  account,
  limit: "five_hour",
  usedPercent: null,
  resetsAt: null,
  confidence: "stated",
  source: "protocol",
  text: "",
  reportedBy: "anna",
  reportedAt: 1,
  warned: null,
  gate:
    dueAt === null ? null : { phase: "waiting", sinceAt: 1, dueAt, waitMs: 1, failures: 0, canary: null, queue: [] },
});

function sourcesOf(
  items: readonly WorkItem[],
  sessions: readonly Session[] = [],
  quotas: readonly Quota[] = [],
): { readonly sources: WorldSources; readonly asked: string[] } {
  const asked: string[] = [];
  const sources: WorldSources = {
    store: { registry: { get: (id) => sessions.find((one) => one.id === id) }, mailbox: { open: () => [] } },
    work: {
      open: () => items.filter(({ state }) => state !== "done"),
      get: async (id) => items.find((one) => one.id === id),
    },
    clock: { now: () => 7 },
    quotas: () => quotas,
    about: () => ({ wait: "notification", hidesFirstTurn: true, git: null, parked: null }),
    async gitNow({ id }) {
      asked.push(id);
      return { commit: `head of ${id}`, dirty: 0 };
    },
    problemOf: async (agent) => (agent === "codex" ? null : "It is not installed."),
  };
  return { sources, asked };
}

const idle = (id: string): Session => {
  const session = plannedSession({ id, state: "running" });
  const { activity } = session.conversation;
  return { ...session, conversation: { ...session.conversation, activity: { ...activity, status: "idle" } } };
};

test("has the open items with what they depend on, and asks git only where a commit decides", async () => {
  const items = [
    workItem({ id: "one", state: "built", sessions: ["anna"] }),
    workItem({ id: "two", state: "finalised", sessions: ["bert"] }),
    workItem({ id: "three", dependencies: ["four"] }),
    workItem({ id: "four", state: "done" }),
    workItem({ id: "five", state: "approved", sessions: ["carl"] }),
  ];
  const { sources, asked } = sourcesOf(items, [idle("anna"), idle("bert"), idle("carl")]);
  const world = await worldOf(sources, { workId: null, isHidden: ({ id }) => id === "five" });
  expect([...world.items.keys()].toSorted()).toEqual(["four", "one", "three", "two"]);
  expect(asked).toEqual(["anna"]);
  expect(world.workers.get("anna")).toMatchObject({ git: { commit: "head of anna" }, hidesFirstTurn: true });
  expect(world.workers.get("bert")).toMatchObject({ git: null });
  await worldOf(sources, { workId: "three" });
  expect(asked).toEqual(["anna"]);
});

test("an agent is parked while all of its accounts that are known wait for a reset", async () => {
  const parked = async (...quotas: readonly Quota[]) => {
    const { sources } = sourcesOf([workItem({ agent: "codex" })], [], quotas);
    return (await worldOf(sources, { workId: null })).agents.get("codex");
  };
  expect(await parked()).toEqual({ problem: null, parked: null });
  expect(await parked(quota("codex work", 90), quota("codex home", 50))).toMatchObject({ parked: { until: 50 } });
  expect(await parked(quota("codex work", 90), quota("codex home", null))).toMatchObject({ parked: null });
  expect(await parked(quota("codexes work", 90))).toMatchObject({ parked: null });
  const { sources } = sourcesOf([workItem({ agent: "nobody" })]);
  expect((await worldOf(sources, { workId: null })).agents.get("nobody")?.problem).toBe("It is not installed.");
});
