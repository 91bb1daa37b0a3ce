/** Before a session goes on with a conversation: nobody else has it open, in Reeve or outside. */
import { join } from "node:path";
import type { LaunchPlan } from "../../agent/contract.ts";
import { nativeIdOf } from "../../agent/native-id.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Session } from "../../session/session.ts";
import { LARGEST_STATUS_BYTES } from "../attention/status-watch.ts";
import type { EffectParts } from "./effects.ts";

type Parts = Pick<EffectParts, "store" | "adapters" | "foreignIn">;

/** One conversation is never open twice: the second would write into the first one's transcript. */
export async function requireConversation(
  parts: Parts,
  session: Session,
  { nativeId, statusDir }: LaunchPlan,
): Promise<void> {
  if (nativeId === null) return;
  const holder = parts.store.registry.living().find((other) => hasOpen(other, session, nativeId));
  if (holder !== undefined) throw conversationOpen(`session ${holder.identity.name}`);
  await requireNotForeign(parts, session, nativeId);
  const { readHolder } = parts.adapters.agent(session.identity.agent);
  if (readHolder === undefined || statusDir === null) return;
  const { files, lives } = parts.adapters.runtime(session.identity.runtime);
  for (const { name } of await files.list(statusDir)) {
    const content = await files.read(join(statusDir, name), { mostBytes: LARGEST_STATUS_BYTES });
    const outside = content === null ? null : readHolder({ name, content }, nativeId);
    if (outside !== null && (await lives(outside))) throw conversationOpen(`process ${outside.pid}, outside Reeve`);
  }
}

function hasOpen(other: Session, { id, identity }: Session, nativeId: string): boolean {
  if (other.id === id || other.process.exit !== null) return false;
  return other.identity.agent === identity.agent && other.conversation.nativeId === nativeId;
}

/** What a vendor's daemon or another process holds is never resumed a second time. An id that Reeve chose is nobody else's. */
async function requireNotForeign(parts: Parts, session: Session, nativeId: string): Promise<void> {
  if (session.process.incarnation === 1 && nativeId === nativeIdOf(session.id)) return;
  const { lives } = parts.adapters.runtime(session.identity.runtime);
  for (const { agent, nativeId: other, process, heldBy, detail } of await parts.foreignIn(session)) {
    if (agent !== session.identity.agent || other !== nativeId) continue;
    if (process === null || (await lives(process)))
      throw conversationOpen(heldBy === "daemon" ? detail : `process ${process?.pid ?? "unknown"}, outside Reeve`);
  }
}

function conversationOpen(where: string): ReeveError {
  return new ReeveError({
    code: "conversation-open",
    kind: "conflict",
    message: `Its conversation is open in ${where}; end that one first, then restart this session.`,
  });
}
