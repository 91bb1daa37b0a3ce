/** What a start that continues a conversation from elsewhere needs: an agent that can, and one that nobody else has open. */
import type { Agent, LaunchPlan } from "../agent/contract.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { SessionFiles } from "../runtime/session-files.ts";
import type { Launch } from "../session/session.ts";
import type { Store } from "../store/contract.ts";

/** One conversation is open in one session: a second would write into the first one's transcript. */
export function requireAdoptable(store: Store, agent: Agent, nativeId: string): void {
  if (agent.canAdopt !== true)
    throw new ReeveError({
      code: "cannot-resume",
      kind: "usage",
      message: `The agent ${agent.name} cannot continue a conversation from elsewhere; leave --resume out.`,
    });
  const holder = store.registry
    .living()
    .find(
      ({ identity, conversation, process }) =>
        identity.agent === agent.name && conversation.nativeId === nativeId && process.exit === null,
    );
  if (holder === undefined) return;
  throw new ReeveError({
    code: "conversation-open",
    kind: "conflict",
    message: `This conversation is open in session ${holder.identity.name} already; go there with: reeve attach ${holder.identity.name}.`,
    details: { session_id: holder.id },
  });
}

/** Of agents that keep the conversations of each directory apart: told to resume nothing, they do not come up. */
export async function requireBegun(
  files: SessionFiles,
  agent: Agent,
  plan: LaunchPlan,
  { cwd }: Launch,
): Promise<void> {
  const { nativeId, transcriptPath } = plan;
  if (agent.holdsMessage === undefined || transcriptPath === null) return;
  if ((await files.stat(transcriptPath))?.isFile === true) return;
  throw new ReeveError({
    code: "unknown-conversation",
    kind: "not-found",
    message: `There is no conversation ${nativeId} of ${agent.name} for ${cwd}; give the directory it was begun in with --cwd, or check the id.`,
  });
}
