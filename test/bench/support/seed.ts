/** Sessions put straight into a home's store: listed, at rest, with nothing running behind them. */
import { amend } from "../../../src/session/amend.ts";
import { join } from "node:path";
import { systemClock } from "../../../src/platform/clock.ts";
import { locateHome, sessionDir } from "../../../src/platform/home.ts";
import { ensurePrivateDir } from "../../../src/platform/private-dir.ts";
import { OPERATOR } from "../../../src/session/caller.ts";
import { planSession } from "../../../src/session/plan-session.ts";
import type { Session } from "../../../src/session/session.ts";
import { putSession } from "../../../src/store/change.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { plainLaunch } from "../../../src/session/plain-launch.ts";

export async function seedSessions(homeDir: string, sessions: readonly Session[]): Promise<void> {
  const home = locateHome({ REEVE_HOME: homeDir });
  for (const directory of [home.stateDir, home.runDir, home.outputsDir]) ensurePrivateDir(directory);
  const { databasePath, outputsDir: outputsRoot, instancePath } = home;
  const store = await openStore({ databasePath, outputsRoot, instancePath, clock: systemClock, log: () => undefined });
  try {
    const planned = (session: Session) => ({
      sessionId: session.id,
      body: {
        type: "session-planned",
        name: session.identity.name,
        agent: session.identity.agent,
        role: session.identity.role,
      } as const,
    });
    await Promise.all(
      sessions.map((session) => store.commit({ changes: [putSession(session)], events: [planned(session)] })),
    );
  } finally {
    await store.close();
  }
}

/** A session that ended with status 1 and was not cleared away. */
export function restingSession(
  homeDir: string,
  number: number,
  changes: { readonly agent?: string; readonly transcriptPath?: string } = {},
): Session {
  const id = `bench${String(number).padStart(5, "0")}`;
  const agent = changes.agent ?? "command";
  const now = Date.now();
  const { session } = planSession(
    {
      id,
      name: `${agent}-${number}`,
      role: "agent",
      agent,
      hasTurns: agent !== "command",
      runtime: "tmux",
      launch: plainLaunch("/home/someone/project", { args: ["npm", "run", "dev"] }),
      restartPolicy: "never",
      parentId: null,
      notify: [],
      outputsDir: sessionDir(join(homeDir, "outputs"), "agent", id),
      branch: null,
      watch: { mode: "process", text: "", version: null, socket: null, statusDir: null, capture: null },
      nativeId: null,
      transcriptPath: changes.transcriptPath ?? null,
      observabilityReason: "A plain command writes no transcript; its screen is shown instead.",
      passHash: id,
    },
    now,
    OPERATOR,
  );
  const evidence = {
    source: "runtime",
    detail: `tmux pane %${number}: process ${10_000 + number} ended with status 1`,
    at: now,
  } as const;
  const isObservable = changes.transcriptPath !== undefined;
  return amend(session, {
    state: "error",
    reason: { code: "exited", text: "Its process ended with status 1.", evidence },
    process: {
      place: { id: `%${number}`, pid: 10_000 + number, startTicks: "1" },
      liveness: { status: "exited", evidence },
      exit: { code: 1, signal: null, at: now },
      startedAt: now,
      endedAt: now,
    },
    watch: { observability: { ...session.watch.observability, status: isObservable ? "observable" : "pending" } },
    conversation: { activity: { status: "unknown", asks: null, evidence }, lastActivityAt: now },
  });
}
