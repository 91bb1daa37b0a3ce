/**
 * Applies what a reading says of the model, the mode, compactions and late tools. Only a
 * change is news: the first value, and what a continued transcript says of the
 * time before there was this session, is noted in silence.
 */
import { amend } from "./amend.ts";
import type { SessionEvent } from "./event.ts";
import type { Change } from "./outcome.ts";
import type { Reading } from "./reading.ts";
import type { Evidence, Session } from "./session.ts";

export function applySetup(session: Session, { setup, compacted, toolsLate }: Reading, evidence: Evidence): Change {
  if (setup === undefined && compacted === undefined && toolsLate === undefined) return { session, events: [] };
  const { createdAt } = session.identity;
  const isNews = (at: number | undefined): boolean => at === undefined || at >= createdAt;
  const { model, askMode } = session.conversation;
  const now = { model: setup?.model ?? model, askMode: setup?.mode ?? askMode };
  const events: readonly SessionEvent[] = [
    ...changeOf("model-changed", model, now.model, evidence),
    ...changeOf("mode-changed", askMode, now.askMode, evidence),
  ];
  const isChanged = now.model !== model || now.askMode !== askMode;
  return {
    session: isChanged ? amend(session, { conversation: now }) : session,
    events: [
      ...(isNews(setup?.at) ? events : []),
      ...(compacted !== undefined && isNews(compacted.at)
        ? [{ type: "conversation-compacted", evidence } as const]
        : []),
      ...(toolsLate === undefined ? [] : [{ type: "tools-late", evidence } as const]),
    ],
  };
}

function changeOf(
  type: "model-changed" | "mode-changed",
  from: string | null,
  to: string | null,
  evidence: Evidence,
): readonly SessionEvent[] {
  return from === null || to === null || from === to ? [] : [{ type, from, to, evidence }];
}
