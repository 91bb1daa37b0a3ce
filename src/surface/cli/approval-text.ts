/**
 * Shows what agents ask. A person decides by this text, so what the table cuts
 * is shown in full below it, and the text says what is left out.
 */
import type { OutputOf } from "../../client/operation-types.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { Output } from "./output.ts";
import { paint } from "./paint.ts";
import { relativeTime } from "./relative-time.ts";
import { oneLine } from "./session-text.ts";
import { layOut } from "./table.ts";
import type { Column } from "./table.ts";
import { rulerFor } from "./text-ruler.ts";

export type ApprovalView = OutputOf<"listApprovals">["approvals"][number];
type Answered = OutputOf<"answerApproval">;
type Decision = "approved" | "denied";

const COLUMNS: readonly Column[] = [
  { title: "SESSION", least: 8 },
  { title: "ASKED", dropped: 2 },
  { title: "KIND", dropped: 1 },
  { title: "ASKS", least: 24 },
];

const INDENT = "    ";
/** Most commands are shorter; a long difference is better read in the session. */
const MOST_LINES = 30;

export async function approvalTable(
  approvals: readonly ApprovalView[],
  output: Pick<Output, "width" | "hasColour">,
  now: number,
): Promise<string> {
  const rows = approvals.map((approval) =>
    [
      oneLine(approval.session_name),
      relativeTime(approval.requested_at, now),
      approval.kind,
      oneLine(approval.title),
    ].map((text) => ({ text })),
  );
  const ruler = await rulerFor(rows.flatMap((row) => row.map((cell) => cell.text)));
  const [head = "", ...lines] = layOut(COLUMNS, rows, output.width, ruler).trimEnd().split("\n");
  const blocks = approvals.map((approval, index) => {
    const line = lines[index] ?? "";
    const below = [
      ...subjectLines(approval, !line.endsWith(oneLine(approval.title))),
      ...circumstances(approval, approvals).map((text) => (output.hasColour ? paint("quiet", text) : text)),
    ];
    return [line, ...below.map((text) => `${INDENT}${text}`)];
  });
  return `${[head, ...blocks.flat()].join("\n")}\n`;
}

/** All of it, unless the title says it already and could be read. */
function subjectLines({ title, subject }: ApprovalView, isTitleCut: boolean): readonly string[] {
  const told = oneLine(title);
  if (subject === null) return isTitleCut ? [told] : [];
  const lines = stripTerminal(subject).trimEnd().split("\n");
  const isTold = lines.length === 1 && told.includes(oneLine(subject));
  if (isTold) return isTitleCut ? [told] : [];
  if (lines.length <= MOST_LINES) return lines;
  const left = lines.length - MOST_LINES;
  return [...lines.slice(0, MOST_LINES), `(${left} more ${left === 1 ? "line" : "lines"}; with --json all of it)`];
}

function circumstances(approval: ApprovalView, all: readonly ApprovalView[]): readonly string[] {
  const { approval_id: id, session_id: session, cwd, answer } = approval;
  const reason = approval.reason === null ? "" : oneLine(approval.reason);
  const isOneOfSeveral = all.filter((other) => other.session_id === session).length > 1;
  return [
    ...(cwd === null ? [] : [`in ${oneLine(cwd)}`]),
    ...(reason === "" || oneLine(approval.title).includes(reason) ? [] : [`reason: ${reason}`]),
    ...(isOneOfSeveral && approval.answerable ? [`approval: ${oneLine(id)}`] : []),
    ...choiceLines(approval),
    ...(answer === null ? [] : [`being answered: ${answer}`]),
    ...(approval.how_to_answer === null ? [] : [oneLine(approval.how_to_answer)]),
  ];
}

/** What approve and deny do in a dialog. */
function choiceLines({ choices }: ApprovalView): readonly string[] {
  return choices === null ? [] : [`approve: ${oneLine(choices.approved)}`, `deny: ${oneLine(choices.denied)}`];
}

/** What came of an answer. `title` is what was asked, where that is known. */
export function answerSentence(answered: Answered, wanted: Decision, title: string | null): string {
  const { state, decision, by } = answered;
  const asked = title === null ? "" : oneLine(title);
  const detail = answered.detail === null ? "" : oneLine(answered.detail);
  if (state === "failed") return `Not ${wanted}: ${sentences(asked, detail)}`;
  if (state === "pending")
    return `Not ${wanted} yet: ${sentences(asked, detail, "See whether it took effect with: reeve approvals")}`;
  const proof = detail === "" ? "" : ` (${detail})`;
  if (decision === wanted && by !== "pane" && by !== "agent") {
    if (asked === "") return `${capital(wanted)}; it took effect${proof}.`;
    const then = /[.?!]$/.test(asked) ? " It" : "; it";
    return `${capital(wanted)}: ${asked}${then} took effect${proof}.`;
  }
  const question = asked === "" ? "" : `: ${asked}`;
  if (decision === null)
    return `Not ${wanted}: it is no longer asked, and nobody saw how it was answered${question}${proof}`;
  const who = by === "agent" ? "the agent" : "somebody";
  const told = `${who} ${decision} it${by === "pane" ? " in the pane before" : ""}${question}${proof}`;
  return decision === wanted ? capital(told) : `Not ${wanted}: ${told}`;
}

function sentences(...texts: readonly string[]): string {
  return texts
    .filter((text) => text !== "")
    .map((text, index, all) => (index === all.length - 1 || /[.?!]$/.test(text) ? text : `${text}.`))
    .join(" ");
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
