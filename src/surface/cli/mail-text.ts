/**
 * Mail as people and agents read it in a terminal. Each line of a text that
 * somebody else wrote begins with a bar, so that nothing in it looks like
 * Reeve's own words.
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
import { unreadCount } from "./unread-sentence.ts";

type Checked = OutputOf<"checkMail">;
type Listed = Checked["mails"][number];
export type ReadMail = OutputOf<"readMail">;
type Party = Listed["from"];

const COLUMNS: readonly Column[] = [
  { title: "MAIL" },
  { title: "FROM", least: 8 },
  { title: "SENT", dropped: 3 },
  { title: "STATE", dropped: 2 },
  { title: "KIND", dropped: 1 },
  { title: "SUBJECT", least: 16 },
];

export async function mailTable(
  checked: Checked,
  output: Pick<Output, "width" | "hasColour">,
  now: number,
): Promise<string> {
  const rows = checked.mails.map((mail) => {
    const isUnread = mail.state === "unread";
    return [
      mail.mail_id,
      partyText(mail.from),
      relativeTime(mail.sent_at, now),
      mail.state,
      kindText(mail),
      mail.state === "retracted" ? "(its sender took it back)" : oneLine(mail.subject),
    ].map((text) => (isUnread && output.hasColour ? { text, paint: (cut: string) => paint("strong", cut) } : { text }));
  });
  const ruler = await rulerFor(rows.flatMap((row) => row.map(({ text }) => text)));
  return layOut(COLUMNS, rows, output.width, ruler);
}

/** What is below the table. */
export function mailFooter({ unread, hand_offs: handOffs, next_page: next, mails }: Checked): readonly string[] {
  const first = mails.find(({ state }) => state === "unread");
  return [
    ...(first === undefined
      ? []
      : [`${unreadCount({ unread, handOffs })}. To read the first: reeve mail read ${first.mail_id}`]),
    ...(next === null ? [] : [`There may be more: repeat the command with --page ${next}`]),
  ];
}

export function mailText(mail: ReadMail, output: Pick<Output, "hasColour">, now: number): string {
  const strong = (text: string): string => (output.hasColour ? paint("strong", text) : text);
  const quiet = (text: string): string => (output.hasColour ? paint("quiet", text) : text);
  const answers = mail.in_reply_to === null ? "" : `, in reply to ${mail.in_reply_to}`;
  const head = [
    ["From", `${partyText(mail.from)}, ${relativeTime(mail.sent_at, now)}`],
    ["To", `${partyText(mail.to)}${mail.addressed_to.startsWith("role:") ? ` (${mail.addressed_to})` : ""}`],
    ["Subject", strong(oneLine(mail.subject))],
    ["Kind", `${kindText(mail)}; ${mail.state}`],
    ["Thread", `${mail.thread_id}${answers}`],
  ].map(([name = "", value = ""]) => `${quiet(name.padEnd(8))} ${value}`);
  const body = mail.body === "" ? [] : stripTerminal(mail.body).trimEnd().split("\n");
  return `${[...head, "", oneLine(mail.note), ...body.map((line) => `${quiet("|")} ${line}`)].join("\n")}\n`;
}

export function partyText({ kind, name, session_id: id }: Party): string {
  if (kind === "operator") return "the operator";
  return kind === "system" ? "Reeve itself" : oneLine(name ?? id ?? "?");
}

function kindText({ kind, priority }: Pick<Listed, "kind" | "priority">): string {
  return priority === "normal" ? kind : `${kind}, ${priority}`;
}
