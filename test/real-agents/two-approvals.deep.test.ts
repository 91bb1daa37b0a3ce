/**
 * Two questions open at once, in each agent that can ask two:
 * an answer goes to the question that is on the screen, recognised by its text,
 * and to no other.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { CASES } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { endNow, press, refusalOf, screenOf } from "./session-steps.ts";

interface Approval {
  readonly approval_id: string;
  readonly subject: string | null;
}

/** The tool of the first takes its time, and nothing is told of the answer before it is done. */
const parallel = (first: string, second: string): string => `[[shell ${first}]] [[and ${second}]] [[say done]]`;
/** Claude Code asks about two calls of one answer one after the other; two subagents ask at once. */
const subagents = (first: string, second: string): string =>
  `[[agent [[shell ${first}]] [[say one]]]] [[agent [[shell ${second}]] [[say two]]]] [[say done]]`;

const cases = [
  { agentCase: CASES.codexHooks, promptFor: parallel, yes: "y" },
  { agentCase: CASES.gemini, promptFor: parallel, yes: "1" },
  { agentCase: CASES.claude, promptFor: subagents, yes: "1" },
] as const;

describe.each(cases)("$agentCase.title", { timeout: 180_000 }, ({ agentCase, promptFor, yes }) => {
  const rig = rigOf(agentCase);
  let count = 0;

  async function asked(): Promise<{ id: string; files: string[]; shown: Approval; other: Approval }> {
    count += 1;
    const names = [`first-${count}`, `second-${count}`];
    const files = names.map((name) => join(rig().workDir, name));
    const { session_id: id } = await rig().start(promptFor(...(files.map(slowly) as [string, string])));
    const approvals = await eventually(
      "both are open",
      async () => {
        const found = (await rig().home.json<{ approvals: readonly Approval[] }>("approvals", id)).approvals;
        return found.length === 2 && found;
      },
      60_000,
    );
    // Whichever the agent puts first; seen several times in a row, because a dialog is drawn before it listens.
    const looks: (Approval | undefined)[] = [];
    const shown = await eventually("one of them is on the screen", async () => {
      const dialog = dialogIn(await screenOf(rig(), id));
      looks.push(approvals.find(({ subject }) => dialog.includes(fileIn(subject))));
      const last = looks.slice(-5);
      return last.length === 5 && last.every((look) => look === last[0]) ? last[0] : undefined;
    });
    const other = approvals.find((approval) => approval !== shown) as Approval;
    return { id, files, shown, other };
  }

  const approve = (id: string, approval: Approval) => rig().home.run(["approve", id, approval.approval_id, "--json"]);
  const isTouched = (approval: Approval): boolean => existsSync(join(rig().workDir, fileIn(approval.subject)));

  test("the one that is not shown is refused; the one that is shown is approved, and it alone", async () => {
    const { id, shown, other } = await asked();
    const refused = await approve(id, other);
    expect(refused.status).not.toBe(0);
    // It says which one to answer first.
    expect(JSON.parse(refused.stdout)).toMatchObject({
      state: "failed",
      detail: expect.stringContaining(`It is ${shown.approval_id} (`) as string,
    });
    expect([isTouched(shown), isTouched(other)]).toEqual([false, false]);
    expect(JSON.parse((await approve(id, shown)).stdout)).toMatchObject({ state: "settled", decision: "approved" });
    expect(dialogIn(await screenOf(rig(), id))).toContain(fileIn(other.subject));
    expect(isTouched(other)).toBe(false);
    expect(JSON.parse((await approve(id, other)).stdout)).toMatchObject({ state: "settled", decision: "approved" });
    await eventually("both ran", () => isTouched(shown) && isTouched(other), 30_000);
    await endNow(rig(), id);
  });

  test("the first was answered in the pane: an answer to it does not approve the second", async () => {
    const { id, shown, other } = await asked();
    await press(rig(), id, yes);
    await eventually(
      "the second is on the screen",
      async () => dialogIn(await screenOf(rig(), id)).includes(fileIn(other.subject)),
      30_000,
    );
    const late = await approve(id, shown);
    const told = JSON.parse(late.stdout) as { readonly state?: string };
    // It may have been told by now that the first was answered: then there is nothing left to answer.
    if (late.status === 0) expect(told).toMatchObject({ state: "settled" });
    else expect([told.state ?? refusalOf(late).code]).toEqual([expect.stringMatching(/^failed$|^approval-/)]);
    expect(isTouched(other)).toBe(false);
    expect(dialogIn(await screenOf(rig(), id))).toContain(fileIn(other.subject));
    await endNow(rig(), id);
  });
});

/** Asked about because of its first word (rig.ts), and slow to end. */
function slowly(file: string): string {
  return `touch ${file}.asked && sleep 5 && touch ${file}`;
}

/** The name of the file that is there when it has run. */
function fileIn(subject: string | null): string {
  return /(?:first|second)-\d+$/.exec(subject ?? "")?.[0] ?? "nothing";
}

/** Below the last frame or question, where the agent asks. */
function dialogIn(screen: string): string {
  const lines = screen.split("\n");
  const from = lines.findLastIndex((line) => /^─{10,}|^ {2}Would you like|^╭─{20,}/.test(line));
  return lines
    .slice(Math.max(0, from))
    .join("\n")
    .replaceAll(/[\s│]+/gu, "");
}
