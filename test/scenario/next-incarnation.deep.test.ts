/**
 * Nothing that was read before an incarnation began may speak for it (issue
 * 7, 7): neither the title and the screen of the program that died, nor what
 * its hooks left behind.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { killIfThere } from "../support/kill.ts";
import { inHome } from "../support/in-home.ts";
import { standInCodex } from "../support/stand-in-codex.ts";
import type { EventRow, TestHome } from "../support/test-home.ts";

/** Asks in its title and on its screen the first time; the next time it is slow to start and sets no title. */
const PROGRAM = `#!/bin/sh
if [ -e asked ]; then
  echo booting
  sleep 4
  printf 'ready>'
else
  touch asked
  printf '\\033]0;[ ! ] Action Required\\007ready>'
fi
sleep 1000
`;

const RULES = `[[rule]]
name = "title-asks"
title = '^\\[ ! \\] Action Required'
activity = "awaiting-approval"
`;

function sinceRestart(events: readonly EventRow[]): readonly EventRow[] {
  const at = events.findIndex(({ type, data }) => type === "session-starting" && data["incarnation"] === 2);
  return events.slice(at);
}

async function becomes(home: TestHome, activity: string): Promise<void> {
  await eventually(
    `it is ${activity}`,
    async () => (await askSession(home, "fake"))?.["activity"] === activity,
    30_000,
  );
}

test.concurrent("the title of the program that was killed does not count for the next one", () =>
  inHome("", async (home) => {
    const program = join(home.dir, "fake-agent");
    writeFileSync(program, PROGRAM, { mode: 0o755 });
    home.configure(`[agent.fake]\ncommand = ["${program}"]\nready = '^ready>$'\nworking = '^working$'\n`);
    mkdirSync(join(home.dir, "rules"));
    writeFileSync(join(home.dir, "rules", "fake.toml"), RULES);
    await home.json("start", "fake", "--name", "fake", "--cwd", home.dir);
    await becomes(home, "awaiting-approval");
    const { session_id: id } = await home.session("fake");
    for (const { pid } of home.marked(id)) killIfThere(pid);
    await home.json("wait", "fake", "--for", "exited");
    await home.json("restart", "fake");
    await becomes(home, "idle");
    const said = sinceRestart(await home.events()).flatMap(({ type, data }) =>
      type === "activity-changed" ? [(data["activity"] as { status: string }).status] : [],
    );
    expect(said).toEqual(["idle"]);
    const { sources } = await home.json<{ sources: readonly { detail: string }[] }>("explain", "fake");
    expect(sources.map(({ detail }) => detail).join("\n")).not.toContain("title-asks");
  }));

test.concurrent("what hooks of the dead one left is read before the next one starts, and is not the next one's", () =>
  inHome("", async (home) => {
    const codex = standInCodex(home);
    home.configure(codex.toml);
    await codex.start("late");
    const { session_id: id } = await home.session("late");
    await home.killDaemon();
    for (const { pid } of home.marked(id)) killIfThere(pid);
    // Enough to read for a restart to overtake it.
    for (let count = 0; count < 10_000; count++) codex.hook("Unknown");
    codex.hook("Interrupt", { turn_id: "t1" });
    codex.hook("UserPromptSubmit", { turn_id: "t2", prompt: "again" });
    codex.hook("PermissionRequest", { turn_id: "t2", tool_name: "Bash", tool_input: { command: "touch x" } });
    // It never says that it is up.
    await home.run(["restart", "late", "--timeout", "0"]);
    await eventually("the spool is read", () => readdirSync(codex.spool()).length === 0, 30_000);
    const events = (await home.events()).filter((event) => event.session_id === id);
    const next = sinceRestart(events);
    expect(next.length).toBeGreaterThan(0);
    expect(next.map(({ type }) => type).filter((type) => /^turn|^approval/.test(type))).toEqual([]);
    expect(events.map(({ type }) => type).filter((type) => type.startsWith("turn"))).toEqual([
      "turn-started",
      "turn-interrupted",
      "turn-started",
    ]);
    expect(await home.session("late")).toMatchObject({
      turns: 2,
      turn_open: false,
      approvals: 0,
      activity: "starting",
    });
  }));
