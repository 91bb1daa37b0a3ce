import { describe, expect, it } from "vitest";
import { amend, type Amendment } from "../session/amend.ts";
import { plannedSession } from "../session/session-fixture.ts";
import type { ManifestOrigin } from "../session/manifest-origin.ts";
import type { Session } from "../session/session.ts";
import { readManifest } from "./manifest.ts";
import { changesIn, isGone, recordedSpec, stepsOf } from "./manifest-plan.ts";

const FILE = "/shop/reeve.toml";
const SPEC = { agent: "practice", branch: "main", workspace: "/shop" };
const EXIT = { code: 1, signal: null, at: 5 };

function made(id: string, overrides: Amendment = {}, origin: Partial<ManifestOrigin> = {}): Session {
  const manifest = { file: FILE, id, order: 0, spec: SPEC, ...origin };
  const process = { place: { id: "%1" } };
  const session = plannedSession({ state: "running", process, identity: { name: id, manifest } });
  return amend({ ...session, id: `id-${id}` }, overrides);
}

const wanted = (...ids: readonly string[]) => ids.map((id) => ({ id, spec: SPEC }));
const actions = (ids: readonly string[], sessions: readonly Session[]) =>
  stepsOf(FILE, wanted(...ids), sessions).map(({ id, action, session }) => [id, action, session?.id ?? null]);

describe("stepsOf", () => {
  it("starts what is not there, and keeps what is as the file says", () => {
    expect(actions(["a", "b"], [made("b")])).toEqual([
      ["a", "start", null],
      ["b", "keep", "id-b"],
    ]);
  });

  it("knows a session by the file and its id there, whatever it is called", () => {
    const renamed = made("a", { identity: { name: "other" } });
    const foreign = made("b", {}, { file: "/elsewhere/reeve.toml" });
    const byHand = plannedSession({ identity: { name: "c" } });
    expect(actions(["a", "b", "c"], [renamed, foreign, byHand])).toEqual([
      ["a", "keep", "id-a"],
      ["b", "start", null],
      ["c", "start", null],
    ]);
  });

  it("starts anew what was ended, and brings back what died", () => {
    const ended = made("a", { state: "stopped", wish: { desired: "stopped" }, process: { exit: EXIT } });
    const dead = made("b", { state: "error", process: { exit: EXIT } });
    expect(actions(["a", "b"], [ended, dead])).toEqual([
      ["a", "start", null],
      ["b", "bring-back", "id-b"],
    ]);
  });

  it("starts what is recorded and has no process, unless it waits for a limit or is tried again", () => {
    const unbegun = { state: "starting", process: { place: null } } as const;
    const waits = made("b", { ...unbegun, quota: { hasWaited: true } });
    const tried = made("c", {
      ...unbegun,
      process: { place: null, createFailures: { count: 1, sinceAt: 1, since: null } },
    });
    expect(actions(["a", "b", "c"], [made("a", unbegun), waits, tried])).toEqual([
      ["a", "start", "id-a"],
      ["b", "keep", "id-b"],
      ["c", "keep", "id-c"],
    ]);
  });

  it("replaces what is being ended, and what the file changed", () => {
    const ending = made("a", { wish: { desired: "stopped" } });
    const changed = made("b", {}, { spec: { ...SPEC, restart: "always" } });
    const [first, second] = stepsOf(FILE, wanted("a", "b"), [ending, changed]);
    expect([first?.action, second?.action]).toEqual(["replace", "replace"]);
    expect(second?.changes).toEqual([{ key: "restart", before: "always", after: null }]);
  });

  it("tells last what is not in the file any more, in its order there", () => {
    expect(actions(["b"], [made("d", {}, { order: 3 }), made("b"), made("c", {}, { order: 2 })])).toEqual([
      ["b", "keep", "id-b"],
      ["c", "remove", "id-c"],
      ["d", "remove", "id-d"],
    ]);
  });
});

describe("isGone", () => {
  const dead = (overrides: Amendment = {}) => amend(made("a", { state: "error", process: { exit: EXIT } }), overrides);

  it("is what should run and does not", () => {
    expect(isGone(dead())).toBe(true);
    expect(isGone(made("a"))).toBe(false);
    expect(isGone(dead({ wish: { desired: "stopped" } }))).toBe(false);
    expect(isGone(dead({ wish: { desired: "paused" } }))).toBe(false);
  });

  it("is not what Reeve starts again by itself", () => {
    const { restart } = dead().process;
    expect(isGone(dead({ process: { restart: { ...restart, dueAt: 9 } } }))).toBe(false);
  });

  it("is no command that has finished its work, but an agent that was left", () => {
    const finished = dead({ process: { exit: { ...EXIT, code: 0 } }, identity: { hasTurns: false } });
    expect(isGone(finished)).toBe(false);
    expect(isGone(amend(finished, { identity: { restartPolicy: "always" } }))).toBe(true);
    expect(isGone(amend(finished, { identity: { hasTurns: true } }))).toBe(true);
  });
});

describe("recordedSpec", () => {
  it("is the same when it was stored and the file is read again, whatever the file holds", () => {
    const text = `[[sessions]]
id = "a"
agent = "practice"
branch = "main"
tags = ["one"]
timeouts = { turn = { after = "30m", then = "interrupt" }, idle = 600 }
`;
    const read = () => readManifest({ file: FILE, text, looksSecret: () => false }).sessions.map(({ spec }) => spec);
    const [first] = read().map(recordedSpec);
    const [second] = read().map(recordedSpec);
    const stored = JSON.parse(JSON.stringify(first)) as Record<string, unknown>;
    expect(changesIn(stored, second ?? {})).toEqual([]);
  });

  it("keeps a print of the prompt, and nothing of its text", () => {
    const recorded = recordedSpec({ ...SPEC, prompt: "with a word in it" });
    expect(JSON.stringify(recorded)).not.toContain("word");
    expect(changesIn(recorded, recordedSpec({ ...SPEC, prompt: "with a word in it" }))).toEqual([]);
    expect(changesIn(recorded, recordedSpec({ ...SPEC, prompt: "another" })).map(({ key }) => key)).toEqual(["prompt"]);
  });

  it("takes no order of keys for a change, and tells what came and went", () => {
    expect(changesIn({ a: { x: 1, y: [2] } }, { a: { y: [2], x: 1 } })).toEqual([]);
    expect(changesIn({ a: 1 }, { b: 2 })).toEqual([
      { key: "a", before: 1, after: null },
      { key: "b", before: null, after: 2 },
    ]);
  });
});
