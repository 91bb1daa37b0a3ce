/** Questions: answered by command, in the pane, or by nobody before something else happens; one, or two at once. */
import { existsSync } from "node:fs";
import type { Mode } from "./case.ts";
import type { EpisodeKind } from "./episodes.ts";
import { KEYS_LATE } from "./episodes-turn.ts";
import type { Result } from "../support/test-home.ts";
import type { Lane } from "./lane.ts";
import { NotBegun, Stuck } from "./lane.ts";

const ASKING = ["claude", "gemini", "codex", "codex-hooks", "practice"] as const;

export const questionEpisodes: Readonly<Record<string, EpisodeKind>> = {
  approval: {
    modes: ASKING,
    without: KEYS_LATE,
    weight: 5,
    draw: (random) => ({ answer: random.pick(["approve", "deny", "pane-yes", "pane-no"]) }),
    async run(lane, { answer = "approve" }) {
      const { tag, settle } = await ask(lane, "ask");
      await answerWith(lane, answer);
      settle();
      await lane.settle();
      if (lane.mode === "practice") return;
      const isWanted = answer === "approve" || answer === "pane-yes";
      if (existsSync(lane.file(tag)) !== isWanted)
        lane.found(
          "wrong-reason",
          `the command of ${tag} ${isWanted ? "did not run" : "ran"}, answered with ${answer}`,
        );
    },
  },
  "two-approvals": {
    modes: ["claude", "gemini", "codex", "codex-hooks"],
    without: KEYS_LATE,
    weight: 2,
    draw: (random) => ({ second: random.pick(["approve", "deny", "pane-no"]) }),
    async run(lane, { second = "deny" }) {
      const { tag, settle } = await ask(lane, "ask-two");
      const files = [lane.file(tag), `${lane.file(tag)}-two`];
      const first = files.indexOf(await answerFirst(lane, "approve"));
      await lane.until("the first command ran", () => existsSync(files[first] ?? ""), 20_000).catch(() => undefined);
      await lane.until("the second question is told", () => isAsking(lane), 20_000).catch(() => undefined);
      if (existsSync(files[1 - first] ?? ""))
        lane.found("wrong-reason", "the second command ran when only the first was approved");
      if (isAsking(lane)) {
        if (second === "pane-no") await answerWith(lane, second);
        else await answerFirst(lane, second);
      }
      settle();
      await lane.settle();
      if (second !== "approve" && existsSync(files[1 - first] ?? ""))
        lane.found("wrong-reason", "the second command ran although it was denied");
    },
  },
};

/** Until the model called the tool and Reeve says that it asks; returns what marks the answer. */
async function ask(
  lane: Lane,
  kind: "ask" | "ask-two",
): Promise<{ readonly tag: string; readonly settle: () => void }> {
  const message = await lane.send(kind);
  const { tag } = message;
  await lane.until(`the question ${tag} is put`, () => {
    if (lane.isGivenUp(message)) throw new NotBegun();
    if (lane.mode === "practice")
      return lane.turns().some(({ prompt, verdict }) => prompt.includes(tag) && verdict === "open");
    return lane
      .requests()
      .some(({ prompt, calls, outcome }) => prompt.includes(tag) && calls.length > 0 && outcome === "answered");
  });
  const settle = lane.addQuestion(lane.file(tag), kind === "ask" ? 1 : 2);
  await lane.until("Reeve tells of the question", () => isAsking(lane), 20_000).catch(() => undefined);
  if (existsSync(lane.file(tag))) lane.found("wrong-reason", `the command of ${tag} ran, and nobody had approved it`);
  return { tag, settle };
}

/** Answers the question that the agent shows, of those that are listed; returns the file that its command is about. */
async function answerFirst(lane: Lane, answer: string): Promise<string> {
  if (answer === "deny") lane.noteStop();
  // The one on the screen may be told a moment after the other.
  for (let attempt = 0; attempt < 3; attempt++) {
    let approvals: readonly Listed[] = [];
    await lane.until("a question is listed", async () => (approvals = await listed(lane)).length > 0, 20_000);
    for (const { approval_id, subject, title } of approvals) {
      const words = [answer, lane.sessionId(), approval_id];
      const result = await lane.reeve(words, (told) => told.status === 0 || isElsewhere(told) || isUnknown(told));
      if (!isElsewhere(result) && !isUnknown(result))
        return /(\S+made-\w+(?:-two)?)/.exec(`${subject ?? ""} ${title}`)?.[1] ?? "";
    }
  }
  throw new Stuck("none of the questions that are listed is on the screen");
}

interface Listed {
  readonly approval_id: string;
  readonly subject: string | null;
  readonly title: string;
}

async function listed(lane: Lane): Promise<readonly Listed[]> {
  const { stdout } = await lane.reeve(["approvals", lane.sessionId()]);
  return (JSON.parse(stdout || "{}") as { approvals?: readonly Listed[] }).approvals ?? [];
}

/** Keys answer the question on the screen; an answer to another one is refused. */
function isElsewhere({ stdout }: Result): boolean {
  return stdout.includes("Another question is on the screen");
}

function isUnknown({ stdout }: Result): boolean {
  return stdout.includes("Answer again.");
}

function isAsking(lane: Lane): boolean {
  return lane.activity() === "awaiting-approval";
}

async function answerWith(lane: Lane, answer: string): Promise<void> {
  // Who refuses may end the turn by it, depending on the agent; who is refused may go on.
  if (answer === "deny" || answer === "pane-no") lane.noteStop();
  if (answer === "approve" || answer === "deny") {
    const words = [answer, lane.sessionId()];
    // Reeve may die between noting that it answers and the key: then it says so, and a person answers again.
    const result = await lane.reeve(words, (told) => told.status === 0 || isUnknown(told));
    if (isUnknown(result)) await lane.reeve(words);
    return;
  }
  await lane.until("the question is on the screen", () => isOnScreen(lane), 15_000);
  const keys = lane.mode === "practice" ? { yes: "y", no: "n" } : { yes: "Enter", no: "Escape" };
  // A dialog that has just been drawn may miss a key.
  for (let attempt = 0; attempt < 3 && (await isOnScreen(lane)); attempt++) {
    await lane.pane.press(answer === "pane-yes" ? keys.yes : keys.no);
    await lane.until("the dialog is gone", async () => !(await isOnScreen(lane)), 8_000).catch(() => undefined);
  }
  if (await isOnScreen(lane)) throw new Stuck("the dialog does not take a key");
}

/** By what only the dialog shows: the prompt with its command stands above it. */
const ON_SCREEN: Readonly<Record<Mode, RegExp>> = {
  claude: /❯ 1\. Yes/,
  gemini: /1\. Allow once/,
  codex: /1\. Yes/,
  "codex-hooks": /1\. Yes/,
  practice: /\[y\/n\] ›/,
  command: /^$/,
};

async function isOnScreen(lane: Lane): Promise<boolean> {
  return ON_SCREEN[lane.mode].test(await lane.pane.screen());
}
