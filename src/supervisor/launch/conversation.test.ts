/** What a restart begins with, by what the agent's own file holds. */
import { amend, type Amendment } from "../../session/amend.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { nativeIdOf } from "../../agent/native-id.ts";
import { runningSession } from "../../session/run-inputs.ts";
import type { Session, Observability } from "../../session/session.ts";
import { localFiles } from "../../runtime/local-files.ts";
import { beginningOf } from "./conversation.ts";

let directory: string;
let transcriptPath: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-conversation-"));
  transcriptPath = join(directory, "t.jsonl");
});
afterEach(() => rmSync(directory, { recursive: true }));

const agent = { holdsMessage: (line: string): boolean => line === "message" };

function sessionWith(changes: Amendment, status: Observability["status"] = "observable"): Session {
  const before = runningSession();
  const restarted = amend(before, {
    identity: { launch: { ...before.identity.launch, prompt: "go" } },
    process: { incarnation: 2 },
    conversation: { nativeId: "n-1", turns: 1 },
    watch: { observability: { ...before.watch.observability, status, transcriptPath } },
  });
  return amend(restarted, changes);
}
const resume = () => ({ nativeId: "n-1", transcriptPath });

describe("where the agent knows what a message is", () => {
  test("a file that holds one is resumed; its prompt was taken, whoever noticed", async () => {
    writeFileSync(transcriptPath, `setting\n${"x\n".repeat(2_000_000)}message\n`);
    expect(await beginningOf(sessionWith({}), agent, localFiles)).toEqual({ resume: resume(), prompt: null });
    expect(await beginningOf(sessionWith({ conversation: { turns: 0 } }), agent, localFiles)).toEqual({
      resume: resume(),
      prompt: null,
    });
  });

  test("one that holds none has taken its id: another is used", async () => {
    writeFileSync(transcriptPath, "setting\nmess");
    const newId = nativeIdOf(`${sessionWith({}).id}.2`);
    expect(await beginningOf(sessionWith({}), agent, localFiles)).toEqual({ resume: null, prompt: null, newId });
    expect(await beginningOf(sessionWith({ conversation: { turns: 0 } }), agent, localFiles)).toEqual({
      resume: null,
      prompt: "go",
      newId,
    });
  });

  test("one that never appeared is begun, one that is gone is not replaced", async () => {
    expect(await beginningOf(sessionWith({}, "pending"), agent, localFiles)).toEqual({ resume: null, prompt: null });
    expect(await beginningOf(sessionWith({}, "lost"), agent, localFiles)).toEqual({ resume: resume(), prompt: null });
    expect(await beginningOf(sessionWith({}), agent, localFiles)).toEqual({ resume: resume(), prompt: null });
  });
});

test("a first start begins, whatever lies there", async () => {
  writeFileSync(transcriptPath, "message\n");
  expect(
    await beginningOf(
      sessionWith({
        process: { incarnation: 1 },
        conversation: { turns: 0, nativeId: nativeIdOf(runningSession().id) },
      }),
      agent,
      localFiles,
    ),
  ).toEqual({
    resume: null,
    prompt: "go",
  });
});

test("a first start that was given a conversation goes on with it", async () => {
  expect(
    await beginningOf(
      sessionWith({ process: { incarnation: 1 }, conversation: { turns: 0 } }, "pending"),
      {},
      localFiles,
    ),
  ).toEqual({
    resume: resume(),
    prompt: "go",
  });
});

test("elsewhere a turn or a transcript is enough, and the agent decides", async () => {
  expect(await beginningOf(sessionWith({}, "pending"), {}, localFiles)).toEqual({ resume: resume(), prompt: null });
  expect(await beginningOf(sessionWith({ conversation: { turns: 0 } }, "pending"), {}, localFiles)).toEqual({
    resume: null,
    prompt: "go",
  });
  expect(await beginningOf(sessionWith({ conversation: { nativeId: null } }), {}, localFiles)).toEqual({
    resume: null,
    prompt: null,
  });
});
