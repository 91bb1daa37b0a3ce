/**
 * What `reeve init codex` writes into a repository: a card that Codex reads after
 * its harness restarted, and the one line that points to it. The card ends with
 * a line that holds a digest of the rest, so that a card which nobody edited is
 * known as ours, also one of an earlier version. Pure.
 */
import { hash } from "node:crypto";

/** Always loaded where a hook puts CODEX.md into every turn: each of its bytes is paid for each time. */
export const TRIGGER_LINE =
  "If the harness restarted in the middle of this session, read .codex/HARNESS_RESTART.md before you do anything else.";

export const TRIGGER_BUDGET_BYTES = 160;
/** A model reads it in seconds. */
export const CARD_BUDGET_BYTES = 2_048;
/** Of CODEX.md as a whole: what is longer belongs into a file that is read when it is needed. */
export const ALWAYS_LOADED_BUDGET_BYTES = 8_192;

const CHECKLIST = `# The harness restarted in the middle of a session

For Codex only. Go through this before you change anything.

1. Unread mail first. Ask natively (Reeve's MCP tools: recover, then check_mail and read_mail). What is unread there is
   true; the text of a wake may be out of date.
2. Wakes from before the restart that you sent to yourself are noise, unless one brings a hand-off that you have not seen.
3. Verify the checkout before you edit: branch, \`git status\`, a merge, rebase or cherry-pick under way, stashes.
4. Native health and sandboxed health differ. MCP tools can work while your shell cannot reach localhost, GitHub or
   Chroma, because the sandbox has no network. \`gh auth status\` misreports there; use \`gh api user\`.
5. Retry a check that failed in the shell with escalated permissions, the identical request, before you call anything
   down. Blame a service only if both routes fail.
6. Chroma: ask \`/api/v2/heartbeat\`, escalated. No answer from inside the sandbox proves nothing.
7. End the turn with the native tool add_memory, also when the shell cannot reach localhost: what you did, what is open.

A symptom that is not listed here: follow AGENTS.md.
`;

const SEAL = /<!-- reeve init codex ([0-9a-f]{16}) -->\n$/;

export const RESTART_CARD = `${CHECKLIST}\n<!-- reeve init codex ${digest(`${CHECKLIST}\n`)} -->\n`;

/** Whether a card is as some version of Reeve wrote it. Git may have changed its line ends. */
export function isUneditedCard(text: string): boolean {
  const plain = text.replaceAll("\r\n", "\n");
  const seal = SEAL.exec(plain);
  return seal !== null && seal[1] === digest(plain.slice(0, seal.index));
}

export function isThisCard(text: string): boolean {
  return text.replaceAll("\r\n", "\n") === RESTART_CARD;
}

function digest(text: string): string {
  return hash("sha256", text, "hex").slice(0, 16);
}
