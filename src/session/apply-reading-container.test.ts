import { expect, test } from "vitest";
import { applyReading } from "./apply-reading.ts";
import type { Container } from "./container.ts";
import { plannedSession } from "./session-fixture.ts";

const container: Container = {
  image: "x",
  cpus: null,
  memoryBytes: null,
  pids: null,
  network: "none",
  mounts: [],
};

test.each([
  ["a session in a container", container, "/etc/secret.jsonl", null],
  ["a session in a container", container, "OWN/../other/t.jsonl", null],
  ["a session in a container", container, "OWN/agent-home/t.jsonl", "OWN/agent-home/t.jsonl"],
  ["a session of this machine", null, "/home/me/.claude/t.jsonl", "/home/me/.claude/t.jsonl"],
])("%s that says its transcript is elsewhere is believed only about its own directory", (_, inside, said, believed) => {
  const before = plannedSession();
  const own = before.identity.outputsDir;
  const launch = { ...before.identity.launch, container: inside };
  const session = { ...before, identity: { ...before.identity, launch } };
  const reading = { source: "hook", detail: "SessionStart hook", transcriptPath: said.replace("OWN", own) } as const;
  const { session: after } = applyReading(session, reading, { now: 1, incarnation: 1 } as never);
  expect(after.watch.observability.transcriptPath).toBe(believed?.replace("OWN", own) ?? null);
});
