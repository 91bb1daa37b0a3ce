/** Life and death of a session: pause, restart, kill, quit, a lost tmux server, a lost transcript, the end. */
import { setTimeout as sleep } from "node:timers/promises";
import type { EpisodeKind } from "./episodes.ts";
import { begin } from "./episodes-turn.ts";
import { processesOf, serverOf } from "./faults.ts";
import { signal } from "./kernel.ts";
import type { Lane } from "./lane.ts";
import { CannotGoOn, NotBegun } from "./lane.ts";

const ALL = ["claude", "gemini", "codex", "codex-hooks", "practice", "command"] as const;
const TALKING = ALL.slice(0, 5);

export const lifeEpisodes: Readonly<Record<string, EpisodeKind>> = {
  pause: {
    modes: ALL,
    weight: 3,
    draw: (random) => ({ how: random.pick(["hold", "suspend"]), during: random.pick(["rest", "turn"]) }),
    async run(lane, { how = "hold", during = "rest" }) {
      if (during === "turn" && lane.mode !== "command") await begin(lane, "slow");
      await lane.reeve(["pause", lane.sessionId(), ...(how === "suspend" ? ["--suspend"] : [])]);
      const goOn = how === "suspend" ? lane.world.disturb("agent suspended") : () => undefined;
      await lane.send("say");
      await sleep(2_000);
      await lane.reeve(["resume", lane.sessionId()]);
      goOn();
      await lane.settle();
    },
    without: ["stop-agent"],
  },
  restart: {
    modes: ALL,
    weight: 2,
    draw: (random) => ({ during: random.pick(["rest", "turn"]) }),
    async run(lane, { during = "rest" }) {
      await busy(lane, during);
      lane.processes.expect("restarted");
      lane.forgive();
      await startAgain(lane);
    },
    without: ["stop-agent"],
  },
  "kill-agent": {
    modes: ALL,
    weight: 3,
    draw: (random) => ({ during: random.pick(["rest", "turn"]) }),
    async run(lane, { during = "rest" }) {
      await busy(lane, during);
      lane.processes.expect("killed");
      lane.forgive();
      for (const one of processesOf(lane)) signal(one, "SIGKILL");
      await backAgain(lane);
    },
    without: ["stop-agent", "stop-tmux"],
  },
  "kill-tmux": {
    modes: ALL,
    weight: 2,
    draw: (random) => ({ during: random.pick(["rest", "turn"]) }),
    async run(lane, { during = "rest" }) {
      await busy(lane, during);
      lane.processes.expect("tmux-killed");
      lane.forgive();
      const server = await serverOf(lane.world);
      if (server !== null) signal(server, "SIGKILL");
      await backAgain(lane);
    },
    without: ["stop-agent", "stop-tmux", "delete-socket"],
  },
  quit: {
    modes: TALKING,
    weight: 2,
    draw: () => ({}),
    async run(lane) {
      await lane.settle();
      lane.processes.expect("quit");
      const told = lane.events().length;
      await lane.reeve(["send", lane.sessionId(), "/quit", "--timeout", "0"]);
      const isGone = (): boolean => !lane.processes.isAlive();
      const isUnknown = (): boolean =>
        lane
          .events()
          .slice(told)
          .some(({ type }) => type === "message-unknown");
      await lane.until("its process is gone", () => isGone() || isUnknown());
      // Reeve was killed while it typed that, and says that it does not know: it may have been taken all the same.
      const giveUp = (): never => {
        throw new NotBegun();
      };
      if (!isGone()) await lane.until("its process is gone after all", isGone, 5_000).catch(giveUp);
      await backAgain(lane);
    },
    without: ["stop-agent"],
  },
  "lose-transcript": {
    modes: ["claude", "gemini", "codex", "codex-hooks"],
    weight: 1,
    draw: (random) => ({ during: random.pick(["rest", "turn"]) }),
    async run(lane, { during = "rest" }) {
      if (lane.turns().length === 0) await lane.send("say", "queue", 10);
      await lane.settle();
      if (during === "turn") await begin(lane, "slow");
      lane.noteTranscriptDeleted();
      lane.files.remove();
      await lane.send("say");
      await lane.settle();
    },
  },
  end: {
    modes: ALL,
    weight: 0,
    draw: (random) => ({ when: random.pick(["now", "after-turn"]), during: random.pick(["rest", "rest", "turn"]) }),
    async run(lane, { when = "now", during = "rest" }) {
      // Whatever became of the message, the end must work.
      if (lane.processes.isAlive()) await busy(lane, during, "slow").catch(unlessNotBegun);
      if (lane.processes.isAlive()) lane.processes.expect("ended");
      lane.forgive();
      await lane.reeve(["end", lane.sessionId(), "--when", when]);
      await lane.until("list says that it ended", () => lane.state() === "stopped");
    },
    // The socket would not be back before the harness needs it to end the server.
    without: ["stop-agent", "delete-socket"],
  },
};

function unlessNotBegun(error: unknown): void {
  if (!(error instanceof NotBegun)) throw error;
}

async function busy(lane: Lane, during: string, kind: "slow" | "endless" = "endless"): Promise<void> {
  if (during === "turn" && lane.mode !== "command") await begin(lane, kind);
}

/** Its death is told; then it is started again, and talks. */
async function backAgain(lane: Lane): Promise<void> {
  await lane.until("its process is gone", () => !lane.processes.isAlive());
  await lane.settle();
  await startAgain(lane);
}

/**
 * Where the conversation is lost an agent may be unable to go on; then the command that asks for it says so. After a usage
 * limit it says that Reeve starts it later.
 */
async function startAgain(lane: Lane): Promise<void> {
  const before = lane.processes.main();
  const result = await lane.reeve(
    ["restart", lane.sessionId()],
    (answer) => answer.status === 0 || isParked(answer) || lane.isTranscriptDeleted(),
  );
  if (result.status !== 0 && !isParked(result)) {
    await lane.settle();
    throw new CannotGoOn();
  }
  await lane.until("its next process is there", () => lane.processes.main() !== before);
  await lane.settle();
  if (!lane.processes.isAlive())
    return lane.found("wrong-reason", "restart answered that it is up, and its process ended");
  await lane.send("say", "queue", 10);
  await lane.settle();
}

function isParked({ stdout }: { readonly stdout: string }): boolean {
  try {
    const { done, session } = JSON.parse(stdout) as {
      readonly done?: unknown;
      readonly session?: { readonly need?: unknown };
    };
    return done === false && session?.need === "parked";
  } catch {
    return false;
  }
}
