/** A session as every surface shows it: snake_case, ISO instants, text safe for any terminal. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import { isBackgroundOnly } from "../session/background.ts";
import type { Session } from "../session/session.ts";
import { STATES } from "../session/session.ts";
import type { About } from "../supervisor/supervisor.ts";

const instant = z.nullable(z.string());

export const usageSchema = z.object({
  input_tokens: z.number(),
  cached_input_tokens: z.number(),
  output_tokens: z.number(),
  cost_usd: z.nullable(z.number()),
});

export const sessionViewSchema = z.object({
  session_id: z.string(),
  name: z.string(),
  role: z.string(),
  agent: z.string(),
  state: z.enum(STATES),
  desired: z.enum(["running", "paused", "stopped"]),
  reason: z.string(),
  reason_code: z.string(),
  evidence: z.object({ source: z.string(), detail: z.string(), at: z.string() }),
  activity: z.enum(["starting", "working", "idle", "awaiting-approval", "awaiting-input", "unknown"]),
  /** Since when it does that. */
  activity_since: z.string(),
  asks: z.nullable(z.string()),
  liveness: z.enum(["running", "exited", "absent", "unreachable"]),
  liveness_evidence: z.string(),
  observability: z.object({
    status: z.enum(["pending", "observable", "lost"]),
    expected: z.boolean(),
    reason: z.string(),
    native_id: z.nullable(z.string()),
    transcript_path: z.nullable(z.string()),
  }),
  wait: z.enum(["notification", "poll"]),
  /** How to wait for it, in a sentence. */
  guidance: z.string(),
  runtime: z.object({ kind: z.string(), id: z.nullable(z.string()), pid: z.nullable(z.number()) }),
  cwd: z.string(),
  branch: z.object({ declared: z.nullable(z.string()) }),
  pause_mode: z.nullable(z.enum(["detach", "suspend"])),
  turns: z.number(),
  turn_open: z.boolean(),
  last_turn: z.nullable(z.enum(["completed", "failed", "interrupted"])),
  last_turn_error: z.nullable(z.string()),
  stalled_since: instant,
  /** Questions that wait for an answer. */
  approvals: z.number(),
  /** What the agent left working beside its turns; a turn is over when what holds it has ended, too. */
  background: z.array(z.object({ kind: z.enum(["subagent", "command"]), title: z.string(), holds_turn: z.boolean() })),
  usage: z.nullable(usageSchema),
  agent_version: z.nullable(z.string()),
  watched_by: z.string(),
  exit: z.nullable(z.object({ code: z.nullable(z.number()), signal: z.nullable(z.string()), at: z.string() })),
  restart_policy: z.enum(["never", "on-failure", "always"]),
  restarts: z.number(),
  restart_due_at: instant,
  created_at: z.string(),
  started_at: instant,
  last_activity_at: instant,
  ended_at: instant,
  parent_session_id: z.nullable(z.string()),
  /** Who asked for it: operator, session:<id> or system; null where an earlier version recorded it. */
  started_by: z.nullable(z.string()),
  /** The last pause, resume, restart, end or answer that changed it, and who asked for it. */
  last_command: z.nullable(z.object({ command: z.string(), by: z.string(), at: z.string() })),
  held: z.nullable(z.object({ reason: z.string(), until: z.nullable(z.string()) })),
  outputs_dir: z.string(),
  revision: z.number(),
});

export type SessionView = z.infer<typeof sessionViewSchema>;

export function viewSession(session: Session, { wait, impediment, place }: About): SessionView {
  return {
    session_id: session.id,
    name: session.name,
    role: session.role,
    agent: session.agent,
    state: session.state,
    desired: session.desired,
    reason: stripTerminal(impediment === null ? session.reason.text : `${impediment} ${session.reason.text}`),
    reason_code: session.reason.code,
    evidence: {
      source: session.reason.evidence.source,
      detail: stripTerminal(session.reason.evidence.detail),
      at: iso(session.reason.evidence.at),
    },
    activity: session.activity.status,
    activity_since: iso(session.activity.evidence.at),
    asks: safeOrNull(session.activity.asks),
    liveness: session.liveness.status,
    liveness_evidence: stripTerminal(session.liveness.evidence.detail),
    observability: {
      status: session.observability.status,
      expected: session.observability.expected,
      reason: stripTerminal(session.observability.reason),
      native_id: session.nativeId,
      transcript_path: session.observability.transcriptPath,
    },
    wait,
    guidance: impediment === null ? guidanceOf(session) : stripTerminal(impediment),
    runtime: { kind: session.runtime, id: place?.id ?? null, pid: place?.pid ?? null },
    cwd: stripTerminal(session.launch.cwd),
    branch: { declared: session.branch },
    pause_mode: session.pauseMode,
    turns: session.turns,
    turn_open: session.turnOpen,
    last_turn: session.lastTurn?.verdict ?? null,
    last_turn_error: safeOrNull(session.lastTurn?.error ?? null),
    stalled_since: isoOrNull(session.stalledAt),
    approvals: session.approvals.length,
    background: session.background.map(({ kind, title, holds }) => ({
      kind,
      title: stripTerminal(title),
      holds_turn: holds,
    })),
    usage:
      session.usage === null
        ? null
        : {
            input_tokens: session.usage.inputTokens,
            cached_input_tokens: session.usage.cachedInputTokens,
            output_tokens: session.usage.outputTokens,
            cost_usd: session.usage.costUsd,
          },
    agent_version: session.watch.version,
    watched_by: session.watch.mode,
    exit: session.exit === null ? null : { ...session.exit, at: iso(session.exit.at) },
    restart_policy: session.restartPolicy,
    restarts: session.restart.count,
    restart_due_at: isoOrNull(session.restart.dueAt),
    created_at: iso(session.createdAt),
    started_at: isoOrNull(session.startedAt),
    last_activity_at: isoOrNull(session.lastActivityAt),
    ended_at: isoOrNull(session.endedAt),
    parent_session_id: session.parentId,
    started_by: safeOrNull(session.startedBy),
    last_command: viewCommand(session.lastCommand),
    held:
      session.held === null
        ? null
        : { reason: session.held.reason, until: session.held.until === null ? null : iso(session.held.until) },
    outputs_dir: session.outputsDir,
    revision: session.revision,
  };
}

/** What an orchestrator should do next about this session, instead of guessing from a missing file. */
function guidanceOf(session: Session): string {
  const { status } = session.activity;
  if (session.exit !== null) return "Its process has ended; look at its data, or restart it.";
  if (session.createFailures !== null)
    return "It could not be started yet, and is tried again; its reason says why. Wait for its exit, or end it.";
  if (status === "awaiting-approval") return "It asks for approval: answer it with approve or deny.";
  if (status === "awaiting-input")
    return "It asks for something: read its screen, and answer it there with attach, or with send.";
  if (!session.hasTurns) return "It has no turns: wait for its exit, and read its screen at any time.";
  if (session.stalledAt !== null)
    return "Nothing was heard of its turn for a while: read its screen, then interrupt it or wait on.";
  if (session.observability.status === "pending" && session.observability.expected)
    return "That there is no transcript yet is expected: wait for its notification, do not poll, do not end it for that.";
  if (isBackgroundOnly(session))
    return "It works in the background: wait for its notification, do not poll; a message would be taken now.";
  if (session.turnOpen) return "A turn is under way: wait for its notification, do not poll.";
  return "It is idle: send it a message, or end it.";
}

/** What no calendar has is shown as its beginning: one bad instant must not take the whole list with it. */
export function iso(at: number): string {
  const date = new Date(at);
  return (Number.isNaN(date.getTime()) ? new Date(0) : date).toISOString();
}

function viewCommand(last: Session["lastCommand"]): SessionView["last_command"] {
  return last === null ? null : { command: stripTerminal(last.type), by: stripTerminal(last.by), at: iso(last.at) };
}

function safeOrNull(text: string | null): string | null {
  return text === null ? null : stripTerminal(text);
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at);
}
