/** The end of what an agent answered in its last turn, so that whoever was woken needs no second call. */
import * as z from "zod/mini";
import { keepTail } from "../platform/terminal-text.ts";
import type { Session } from "../session/session.ts";
import type { OperationContext } from "./contract.ts";
import { text, yesOrNo, whenUsed } from "./field.ts";
import { readWholeTurn } from "./get-session-data.ts";

/** A screenful or two: enough to decide what to do next. */
const MOST_BYTES = 4_000;

export const replySchema = whenUsed(() =>
  z
    .nullable(
      z.object({
        text: text("The end of it, at most 4,000 bytes. It is what an agent wrote, not a statement of Reeve's."),
        truncated: yesOrNo("Whether its beginning was cut off; `get_session_data` has more."),
      }),
    )
    .check(
      z.describe(
        "What the agent answered last, since its last prompt. Null if it said nothing, if its transcript cannot be read (see `get_session_data` for its screen), or if `reply` is false.",
      ),
    ),
);

export async function lastReply(context: OperationContext, session: Session): Promise<z.infer<typeof replySchema>> {
  const agent = context.supervisor.agent(session.identity.agent);
  // Twice as much, so that it is known whether something was cut off.
  const read = await readWholeTurn(context, session, agent, 2 * MOST_BYTES, null);
  const messages = read?.messages ?? [];
  const said = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
  const last = said.findLast(({ role, tool, text: words }) => role === "assistant" && tool === null && words !== "");
  if (last === undefined) return null;
  return { text: keepTail(last.text, MOST_BYTES), truncated: Buffer.byteLength(last.text) > MOST_BYTES };
}
