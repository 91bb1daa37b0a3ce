/** What is kept of sessions of the real agents: who did what, with what they ran, and their transcripts. */
import { existsSync, lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { CASES, createRig, disposeWhole, type Rig } from "./rig.ts";
import { atWork, endNow, isIdle, press } from "./session-steps.ts";

interface Line {
  readonly kind: string;
  readonly actor: string | null;
  readonly [field: string]: unknown;
}

const { claude, gemini, codexAppServer } = CASES;

function metaOf(directory: string): readonly Line[] {
  const path = join(directory, "session_meta.log");
  const texts = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
  return texts.filter((text) => text !== "").map((text) => JSON.parse(text) as Line);
}

async function reached(directory: string, kind: string): Promise<void> {
  await eventually(
    `${kind} is in session_meta.log`,
    () => metaOf(directory).some((line) => line.kind === kind),
    90_000,
  );
}

/** A denial ends the turn in some of them; either way it comes to rest. */
async function atRest(rig: Rig, id: string): Promise<void> {
  await eventually(
    "it is at rest",
    async () => (await isIdle(rig, id)) && !(await rig.home.session(id))["turn_open"],
    90_000,
  );
}

describe.each([claude, gemini, codexAppServer])("$title", { timeout: 300_000 }, (agentCase) => {
  test("a denial, an interruption, a model error and a restart, each with who did it", async () => {
    const rig = await createRig(agentCase);
    try {
      const file = join(rig.workDir, "never");
      const { session_id: id } = await rig.start(`[[shell touch ${file}]] [[say done]]`, {
        options: ["--persist-session"],
      });
      const directory = String((await rig.home.session(id))["outputs_dir"]);
      expect(await rig.wait(id, "--since", "0")).toMatchObject({ reason: "awaiting-approval" });
      expect((await rig.home.run(["deny", id, "--json"])).status).toBe(0);
      await atRest(rig, id);
      const slow = "[[delay 120s]] [[say too late]]";
      await rig.home.json("send", id, slow);
      await atWork(rig, id, slow);
      const before = metaOf(directory).filter(({ kind }) => kind === "interrupted").length;
      await press(rig, id, "Escape");
      await eventually(
        "it is interrupted",
        () => metaOf(directory).filter(({ kind }) => kind === "interrupted").length > before,
        60_000,
      );
      await atRest(rig, id);
      if (!agentCase.retriesForever) {
        await rig.home.json("send", id, "[[status 500]]");
        await reached(directory, "turn-failed");
      }
      await rig.restart(id);
      await reached(directory, "restarted");
      const { observability } = (await rig.data(id)).session;
      await endNow(rig, id);
      await eventually("its end is kept", () => metaOf(directory).filter(({ kind }) => kind === "ended").length === 2);
      const lines = metaOf(directory);
      const story = lines.map(({ kind, actor }) => `${kind} by ${actor}`);
      expect(story.filter((step) => !step.startsWith("m") && !step.startsWith("branch"))).toEqual([
        "approval-asked by agent",
        "approval-answered by operator",
        ...(before > 0 ? ["interrupted by operator"] : []),
        "interrupted by terminal",
        ...(agentCase.retriesForever ? [] : ["turn-failed by agent"]),
        "ended by operator",
        "restarted by operator",
        "ended by operator",
      ]);
      expect(lines[1]).toMatchObject({ decision: "denied", after_ms: expect.any(Number) as number });

      // It follows the record a moment later.
      const incarnations = await eventually("runtime.json tells how both ended", () => {
        const told = JSON.parse(readFileSync(join(directory, "runtime.json"), "utf8")) as {
          incarnations: readonly Record<string, unknown>[];
        };
        return told.incarnations.every((one) => one["ended_at"] !== null) && told.incarnations;
      });
      expect(incarnations).toMatchObject(
        [1, 2].map((incarnation) => ({
          incarnation,
          versions: { agent: expect.any(String) as string, runtime: expect.stringMatching(/^tmux /) as string },
          ended_at: expect.any(String) as string,
        })),
      );

      const path = observability.transcript_path ?? "";
      const isCodex = agentCase.agent === "codex";
      const link = join(directory, isCodex ? `rollout-${observability.native_id}.jsonl` : "transcript.jsonl");
      if (agentCase.agent === "gemini") {
        await eventually("a copy is kept", () => lstatSync(link).isFile());
        // After the restart it may have begun another conversation, of which there is a copy, too.
        const copies = [link, `${link}.1`].filter((one) => existsSync(one)).map((one) => readFileSync(one, "utf8"));
        expect(copies.join("")).toContain("too late");
      } else expect(readlinkSync(link)).toBe(path);
      if (isCodex)
        expect(readlinkSync(join(path, "..", "..", "..", "..", observability.native_id ?? ""))).toBe(directory);
    } finally {
      await disposeWhole(rig);
    }
  });
});
