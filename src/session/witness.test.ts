/** The order of trust, as the code has it. */
import { expect, test } from "vitest";
import { read, run, runningSession } from "./run-inputs.ts";
import type { Evidence } from "./session.ts";
import { isSignOfLife, isWitness, outranks, STANDING } from "./witness.ts";

const SOURCES = Object.keys(STANDING) as Evidence["source"][];

test("the agent's own reports come first and are equals, then its status file, then its screen", () => {
  expect(SOURCES.filter(isWitness)).toEqual(["protocol", "hook", "transcript"]);
  for (const one of SOURCES.filter(isWitness))
    for (const other of SOURCES) expect([one, other, outranks(one, other)]).toEqual([one, other, !isWitness(other)]);
  expect([outranks("status", "screen"), outranks("screen", "status"), outranks("screen", "supervisor")]).toEqual([
    true,
    false,
    true,
  ]);
});

test("a screen that moves is no sign of life, nor is a conclusion of Reeve's own", () => {
  expect(SOURCES.filter(isSignOfLife)).toEqual(["protocol", "hook", "transcript", "status"]);
});

test("of the agent's own reports the newest counts, whichever they are", () => {
  for (const one of SOURCES.filter(isWitness))
    for (const other of SOURCES.filter(isWitness)) {
      const { session } = run(
        runningSession(),
        read({ source: one, activity: "working" }),
        read({ source: other, activity: "idle" }),
      );
      expect(session.conversation.activity).toMatchObject({ status: "idle", evidence: { source: other } });
    }
});
