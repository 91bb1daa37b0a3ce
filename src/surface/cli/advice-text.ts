/** What `reeve work next` says, as people read it: the action, why, and what they need to do it. */
import type { OutputOf } from "../../client/operation-types.ts";
import { oneLine } from "./session-text.ts";

type NextWork = OutputOf<"nextWork">;

export function adviceText(advice: NextWork): string {
  const { action, code, dispatch, message, approval, commit, wait, until, report, work_id: work } = advice;
  const rows: (readonly [string, string | null])[] = [
    ["item", work],
    ["session", advice.session_id],
    ["agent", dispatch?.agent ?? null],
    ["role", dispatch?.role ?? null],
    ["directory", dispatch === null ? null : oneLine(dispatch.cwd)],
    ["branch", dispatch?.branch ?? null],
    ["approval", approval === null ? null : `${approval.approval_id}: ${oneLine(approval.title)}`],
    ["commit", commit],
    [
      "wait for",
      wait === null ? null : `${wait.sessions.join(", ")}${wait.how === "notification" ? " (only wait)" : ""}`,
    ],
    ["until", until],
    [
      "then",
      report.length === 0 || work === null
        ? null
        : report.map((one) => `reeve work ${one} ${work}`).join("\n          "),
    ],
    ["repaired", advice.repairs.map((repair) => `${repair.work_id} ${repair.change}`).join(", ") || null],
  ];
  const head = action === "none" ? (code ?? "none") : code === null ? action : `${action} (${code})`;
  const lines = rows.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(9)} ${value}`]));
  const sent = message === null ? [] : ["", ...message.split("\n").map((line) => `| ${line}`.trimEnd())];
  return [`${head}: ${oneLine(advice.text)}`, ...lines, ...sent].join("\n");
}
