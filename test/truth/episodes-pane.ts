/** A person at the pane: types a prompt, leaves a draft, opens one of the agent's own dialogs. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Mode } from "./case.ts";
import type { EpisodeKind } from "./episodes.ts";
import { KEYS_LATE } from "./episodes-turn.ts";
import type { Lane } from "./lane.ts";

const TALKING = ["claude", "gemini", "codex", "codex-hooks", "practice"] as const;
/** Long enough that a claim of idle is no late news. */
const HOLD_MS = 6_000;

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
    weight: 3,
    draw: (random) => ({ end: random.pick(["clear", "enter"]) }),
    async run(lane, { end = "clear" }) {
      await atRest(lane);
      const { text: words, send } = lane.draft();
      await lane.pane.type(words);
      await lane.until("the draft is on the screen", async () => (await lane.pane.screen()).includes(words), 15_000);
      await lane.send("say");
      await sleep(HOLD_MS / 2);
      const isThere = (await lane.pane.screen()).includes(words);
      if (!isThere) lane.found("lost", "a person's draft was taken out of the composer");
      if (isThere && end === "enter") send();
      if (isThere) await lane.pane.press(...(end === "enter" ? ["Enter"] : ["C-u"]));
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

/** The agent has its composer on the screen: a turn has been through, and a moment has passed. */
async function atRest(lane: Lane): Promise<void> {
  if (lane.turns().length === 0) await lane.send("say");
  await lane.settle();
  await sleep(1_000);
  // After an Esc Claude Code puts the prompt back into its composer: a person sees that, and clears it before typing.
  await lane.pane.press("C-u");
}
