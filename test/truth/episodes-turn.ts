/** Turns: short, long, with tools, failing, hanging; one message after another, into a turn, instead of one. */
import type { EpisodeKind } from "./episodes.ts";
import { OWN } from "./ground-truth.ts";
import type { Lane } from "./lane.ts";
import { NotBegun } from "./lane.ts";
import type { TextKind } from "./prompts.ts";

const TALKING = ["claude", "gemini", "codex", "codex-hooks", "practice"] as const;
const MODELS = ["claude", "gemini", "codex", "codex-hooks"] as const;
const ALL = [...TALKING, "command"] as const;

const PLAIN: readonly TextKind[] = ["say", "slow", "stream", "tool", "parallel", "lines", "kb", "odd"];

/** Keys that the harness presses would come late, and all at once. */
export const KEYS_LATE = ["stop-agent", "stop-tmux"];

export const turnEpisodes: Readonly<Record<string, EpisodeKind>> = {
  turn: {
    modes: ALL,
    weight: 6,
    draw: (random) => ({ text: random.pick(PLAIN) }),
    async run(lane, { text = "say" }) {
      await lane.send(text as TextKind, "queue", 10);
      await lane.settle();
    },
  },
  loose: {
    modes: TALKING,
    weight: 2,
    draw: (random) => ({ text: random.pick(["say", "slow", "429"]) }),
    async run(lane, { text = "say" }) {
      await lane.sendAndWait(lane.mode === "gemini" && text === "429" ? "say" : (text as TextKind));
      await lane.settle();
    },
  },
  queue: {
    modes: ALL,
    weight: 4,
    draw: (random) => ({ first: random.pick(["slow", "say", "lines", "tool"]), more: String(random.int(1, 4)) }),
    async run(lane, { first = "slow", more = "2" }) {
      await lane.send(first as TextKind);
      for (let index = 0; index < Number(more); index++) await lane.send("say");
      await lane.settle();
    },
  },
  steer: {
    modes: ["claude", "codex", "codex-hooks"],
    weight: 2,
    draw: (random) => ({ into: random.pick(["slow", "stream"]) }),
    async run(lane, { into = "slow" }) {
      await begin(lane, into as TextKind);
      await lane.send("say", "steer", 10);
      await lane.settle();
    },
  },
  interrupt: {
    modes: TALKING,
    weight: 6,
    draw: (random) => ({
      what: random.pick(["endless", "hang", "hang-midway"]),
      when: random.pick(["turn", "turn", "turn", "early"]),
      waiting: String(random.int(0, 3)),
      ahead: random.pick(["nothing", "say", "slow"]),
    }),
    /** Early: the turn may not have begun by then, so it may end by itself. */
    async run(lane, { what = "endless", when = "turn", waiting = "0", ahead = "say" }) {
      const isUnderWay = when === "turn";
      const turn = isUnderWay ? await begin(lane, what as TextKind) : (await lane.send("slow")).tag;
      // A key that comes late has a long turn to stop.
      for (let index = 0; index < Number(waiting); index++) await lane.send(index === 0 ? "slow" : "say");
      await lane.interrupt({ turn, isUnderWay }, ahead === "nothing" ? null : (ahead as TextKind));
      await lane.settle();
    },
  },
  fail: {
    modes: MODELS,
    without: KEYS_LATE,
    weight: 3,
    draw: (random) => ({ how: random.pick(["429", "500", "disconnect", "disconnect-midway"]) }),
    async run(lane, { how = "500" }) {
      // It asks again and again, until somebody stops it; not once it was given words.
      const isEndless = lane.mode === "gemini" && how !== "disconnect-midway";
      await (isEndless ? begin(lane, how as TextKind) : lane.send(how as TextKind));
      if (isEndless) {
        await told(lane, "session-stalled");
        await stopByKey(lane);
      }
      await lane.settle();
    },
  },
  hang: {
    modes: TALKING,
    without: KEYS_LATE,
    weight: 2,
    draw: (random) => ({ how: random.pick(["hang", "hang-midway"]) }),
    async run(lane, { how = "hang" }) {
      await begin(lane, how as TextKind);
      await told(lane, "session-stalled");
      await stopByKey(lane);
      await lane.settle();
    },
  },
  escape: {
    modes: TALKING,
    without: KEYS_LATE,
    weight: 3,
    draw: (random) => ({ what: random.pick(["endless", "hang-midway"]), after: random.pick(["turn", "nothing"]) }),
    async run(lane, { what = "endless", after = "turn" }) {
      await begin(lane, what as TextKind);
      await stopByKey(lane);
      await lane.settle();
      if (after === "turn") await lane.send("say", "queue", 10);
      await lane.settle();
    },
  },
  background: {
    modes: ["claude"],
    weight: 3,
    draw: (random) => ({ what: random.pick(["background", "agent"]) }),
    async run(lane, { what = "background" }) {
      const message = await lane.send(what as TextKind);
      const { tag } = message;
      await lane.until("the answer is there, and the rest of it", () => {
        if (lane.isGivenUp(message)) throw new NotBegun();
        return lane
          .turns()
          .some(({ prompt, endedAt }) => prompt.includes(tag) && endedAt !== null && endedAt < Date.now());
      });
      await lane
        .until(
          "it woke itself",
          () => lane.turns().some(({ prompt, verdict }) => prompt.startsWith(OWN) && verdict === "completed"),
          20_000,
        )
        .catch(() => undefined);
      await lane.settle();
    },
  },
};

/** Sends it, and waits until the model works on it. */
export async function begin(lane: Lane, kind: TextKind): Promise<string> {
  const message = await lane.send(kind);
  const { tag } = message;
  await lane.until(`the turn ${tag} is under way`, () => {
    if (lane.isGivenUp(message)) throw new NotBegun();
    return lane.turns().some(({ prompt, verdict }) => prompt.includes(tag) && verdict === "open");
  });
  return tag;
}

/** Esc, and after a long while once more: an agent may be too busy for the first, but two in a row mean something else. */
export async function stopByKey(lane: Lane): Promise<void> {
  const isOver = (): boolean => !lane.turns().some(({ verdict }) => verdict === "open");
  for (let attempt = 0; attempt < 3 && !isOver(); attempt++) {
    lane.noteStop();
    await lane.pane.press("Escape");
    await lane.until("the turn is over", isOver, 10_000).catch(() => undefined);
  }
  await lane.until("the turn is over", isOver, 1_000);
}

/** Waits for what must be told; that it was not is for the judge. */
export async function told(lane: Lane, type: string, patienceMs = 30_000): Promise<void> {
  const before = lane.events().filter((event) => event.type === type).length;
  await lane
    .until(type, () => lane.events().filter((event) => event.type === type).length > before, patienceMs)
    .catch(() => undefined);
}
