/**
 * Tells people who are attached to sessions something: a line at the bottom of
 * their terminals, or the bell. The text comes from agents, so it reaches tmux
 * as the value of an option, which is not expanded as a format.
 */
import type { AttachedNotice } from "../contract.ts";
import { unreachable } from "./control-connection.ts";
import { quote } from "./quote.ts";
import type { Reach } from "./reach.ts";

const NOTICE_OPTION = "@reeve-notice";
/** tmux holds the screen still for so long, or until a key is pressed. */
const SHOWN_MS = 3_000;
const MOST_CHARACTERS = 200;

/** How many there are. `ring` sounds the bell of a terminal, by its path. */
export async function notifyAttached(
  reach: () => Promise<Reach>,
  notice: AttachedNotice,
  ring: (terminal: string) => void,
): Promise<number> {
  const reached = await reach();
  if (reached.status === "absent") return 0;
  if (reached.status === "unreachable") throw unreachable(reached.evidence);
  const { connection } = reached;
  const format = quote("client #{client_control_mode} #{client_tty}");
  const answer = await connection.request([{ text: `list-clients -F ${format}` }]);
  const terminals = terminalsIn(answer.replies[0]?.lines ?? []);
  if ("bell" in notice) {
    for (const terminal of terminals) ring(terminal);
  } else if (terminals.length > 0) {
    const show = (terminal: string) => ({
      text: `display-message -c ${quote(terminal)} -d ${SHOWN_MS} ${quote(`#{${NOTICE_OPTION}}`)}`,
    });
    // One line each: a terminal that is gone by now keeps the message from no other.
    await connection.request([{ text: `set-option -s ${NOTICE_OPTION} ${quote(plain(notice.text))}` }]);
    for (const terminal of terminals) await connection.request([show(terminal)]);
  }
  return terminals.length;
}

function terminalsIn(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => /^client 0 (\/dev\/[A-Za-z0-9/]+)$/.exec(line)?.[1] ?? []);
}

/** tmux draws styles, `#[…]`, even where they come from a value (3.3a). */
function plain(text: string): string {
  return Array.from(text.replace(/\s+/g, " ").replaceAll("#[", "# [")).slice(0, MOST_CHARACTERS).join("");
}
