/** A person at the pane: types a prompt, leaves a draft, changes the size of the terminal, opens one of the agent's own dialogs. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Mode } from "./case.ts";
import type { EpisodeKind } from "./episodes.ts";
import { begin, KEYS_LATE } from "./episodes-turn.ts";
import type { Lane } from "./lane.ts";
import type { TextKind } from "./prompts.ts";

const TALKING = ["claude", "gemini", "codex", "codex-hooks", "practice"] as const;
/** Long enough that a claim of idle is no late news. */
const HOLD_MS = 6_000;
/** An agent draws within some hundredths of a second; the next size meets it before, during or after that. */
const DRAWING_MS = 150;

/** What opens a dialog, and what its screen then shows. */
const DIALOGS: Readonly<Partial<Record<Mode, Readonly<Record<string, RegExp>>>>> = {
  claude: { model: /Select model/i, config: /Settings|Config/i },
  gemini: { model: /Select Model/, theme: /Theme/ },
  codex: { model: /Select Model/i },
  "codex-hooks": { model: /Select Model/i, permissions: /Permissions|Approval/i },
};

export const paneEpisodes: Readonly<Record<string, EpisodeKind>> = {
  person: {
    modes: TALKING,
    without: KEYS_LATE,
    weight: 2,
    draw: (random) => ({ text: random.pick(["say", "slow"]) }),
    async run(lane, { text = "say" }) {
      await atRest(lane);
      const { tag } = await lane.typePrompt(text === "slow" ? "slow" : "say");
      await lane.until("it arrived", () => lane.turns().some(({ prompt }) => prompt.includes(tag)));
      await lane.settle();
    },
  },
  draft: {
    modes: TALKING,
    without: KEYS_LATE,
    weight: 5,
    draw: (random, mode) => ({
      text: random.pick(["say", "slow"]),
      during: random.pick(["rest", "turn"]),
      waiting: String(random.int(1, 3)),
      // Nothing waits for a draft where messages are given over a protocol.
      also: random.pick(["nothing", "kill", "kill", "frames", mode === "codex" ? "nothing" : "interrupt"]),
      end: random.pick(["clear", "enter"]),
    }),
    async run(lane, { text = "say", during = "rest", waiting = "1", also = "nothing", end = "clear" }) {
      await atRest(lane);
      const turn = during === "turn" ? await begin(lane, "slow") : null;
      const draft = await lane.draft(text as TextKind);
      for (let index = 0; index < Number(waiting); index++) await lane.send("say");
      if (also === "kill") lane.world.killDaemon();
      if (also === "frames") await redraw(lane, ["90x24", "110x40"]);
      // The turn ends by itself when nothing stops it; that of the draft is another one.
      if (also === "interrupt") await lane.interrupt({ turn, isUnderWay: false }, "say");
      await lane.until("the turn is over", () => !isUnderWay(lane));
      for (const endsAt = Date.now() + HOLD_MS / 2; Date.now() < endsAt && (await draft.look());) await sleep(300);
      // Codex takes messages over its protocol meanwhile, and an Enter during a turn goes into that turn.
      if (lane.mode === "codex") await lane.settle();
      await draft.end(end === "enter" ? "enter" : "clear");
      await lane.settle();
    },
  },
  "old-frames": {
    modes: TALKING,
    without: [...KEYS_LATE, "failpoint"],
    weight: 4,
    draw: (random) => ({
      text: random.pick(["say", "lines", "kb", "odd"]),
      sizes: Array.from({ length: 3 }, () => `${random.int(60, 110)}x${random.int(16, 40)}`).join(","),
      kill: random.pick(["never", "send.pasted", "send.pasted", "type.between", "later"]),
      at: String(random.int(0, 900)),
    }),
    /** Sizes: before the message is given, and while it is typed. Kill: at a failpoint, or so many milliseconds after it was given. */
    async run(lane, { text = "say", sizes = "90x24", kill = "send.pasted", at = "300" }) {
      await atRest(lane);
      const before = await lane.pane.size();
      const [first = before, ...others] = sizes.split(",");
      await redraw(lane, [first]);
      if (kill.includes(".")) lane.world.armFailpoint(kill);
      await lane.send(text as TextKind);
      const killing = kill === "later" ? sleep(Number(at)).then(() => lane.world.killDaemon()) : null;
      await redraw(lane, others);
      await killing;
      await lane.send("say", "queue", 10);
      await lane.settle();
      await redraw(lane, [before]);
      await lane.send("say", "queue", 10);
      await lane.settle();
    },
  },
  dialog: {
    modes: ["claude", "gemini", "codex", "codex-hooks"],
    without: KEYS_LATE,
    weight: 3,
    draw: (random, mode) => ({ which: random.pick(Object.keys(DIALOGS[mode] ?? {})) }),
    async run(lane, { which = "model" }) {
      const pattern = DIALOGS[lane.mode]?.[which] ?? /./;
      await atRest(lane);
      await lane.pane.type(`/${which}`);
      await lane.until("the command is typed", async () => (await lane.pane.screen()).includes(`/${which}`), 15_000);
      await sleep(400);
      await lane.pane.press("Enter");
      const isOpen = async (): Promise<boolean> => pattern.test(await lane.pane.screen());
      await lane.until("the dialog is open", isOpen, 15_000);
      const modelOf = (): string => lane.requests().at(-1)?.model ?? "";
      const before = modelOf();
      const close = lane.addDialog(`/${which}`);
      await lane.send("say");
      await sleep(HOLD_MS);
      for (let attempt = 0; attempt < 3 && (await isOpen()); attempt++) {
        await lane.pane.press("Escape");
        await lane.until("the dialog is closed", async () => !(await isOpen()), 8_000).catch(() => undefined);
      }
      close();
      await lane.settle();
      // Gemini CLI chooses its model anew for each turn.
      if (lane.mode !== "gemini" && modelOf() !== before)
        lane.found("swallowed", `a message operated the dialog /${which}: the model is now ${modelOf()}`);
    },
  },
};

function isUnderWay(lane: Lane): boolean {
  return lane.turns().some(({ verdict }) => verdict === "open");
}

/** The terminal takes one size after the other; old frames of the agent may stay above the one that it draws last. */
async function redraw(lane: Lane, sizes: readonly string[]): Promise<void> {
  for (const size of sizes) {
    await lane.pane.resize(size);
    await sleep(DRAWING_MS);
  }
}

/** The agent has its composer on the screen: a turn has been through, and a moment has passed. */
async function atRest(lane: Lane): Promise<void> {
  if (lane.turns().length === 0) await lane.send("say");
  await lane.settle();
  await sleep(1_000);
  // After an Esc Claude Code puts the prompt back into its composer: a person sees that, and clears it before typing.
  await lane.pane.press("C-u");
}
