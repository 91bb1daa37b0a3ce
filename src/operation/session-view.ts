/** A session as every surface shows it: snake_case, ISO instants, text safe for any terminal. */
import * as z from "zod/mini";
import { iso } from "../platform/instant.ts";
import { stripTerminal } from "../platform/terminal-text.ts";
import { BRANCH_MISMATCH, isMismatched } from "../session/checkout.ts";
import { accountOf } from "../fleet/quota.ts";
import { headlineOf, needOf, needSince } from "../session/need.ts";
import { FAILURE_KINDS } from "../session/failure.ts";
import { type Health, HEALTH_VERDICTS, healthOf } from "../session/health.ts";
import { NEEDS } from "../session/need-order.ts";
import { isUnseen } from "../session/notice.ts";
import type { LastCommand, Session } from "../session/session.ts";
import { SOURCES } from "../session/session.ts";
import { STATES } from "../session/states.ts";
import { WAKE_REASONS } from "../session/wake.ts";
import type { GitStatus } from "../supervisor/attention/checkout-status.ts";
import type { About } from "../supervisor/testimony.ts";
import {
  count,
  cursor,
  instant,
  instantOrNull,
  restartPolicySchema,
  text,
  textOrNull,
  yesOrNo,
  whenUsed,
} from "./field.ts";
import { branchSchema, gitSchema } from "./branch-view.ts";
import { guidanceOf } from "./guidance.ts";
import { manifestSchema, viewManifest } from "./manifest-view.ts";
import { containerSchema, viewContainer } from "./container-view.ts";
import { persistenceSchema, viewPersistence } from "./persistence-view.ts";
import { heldSchema, timedOutSchema, viewHeld, viewTimedOut } from "./held-view.ts";
import { parkedEvidence, parkedSchema, parkedSentence, viewParked } from "./parked-view.ts";

export const usageSchema = whenUsed(() =>
  z
    .object({
      input_tokens: count("Tokens that the model read, cached ones included."),
      cached_input_tokens: count("Of these, tokens that came from the vendor's cache."),
      output_tokens: count("Tokens that the model wrote."),
      cost_usd: z.nullable(z.number()).check(z.describe("In US dollars, where the agent says so; null otherwise.")),
    })
    .register(z.globalRegistry, { id: "Usage", description: "What the model was used for, as the agent reports it." }),
);

export const evidenceSchema = z
  .object({
    source: z
      .enum(SOURCES)
      .check(
        z.describe(
          "Who reported it: the operator, a session, the runtime, the agent's protocol, a hook, its transcript, its status file, its screen, or Reeve (supervisor).",
        ),
      ),
    detail: text("What was seen or reported."),
    at: instant("When."),
  })
  .register(z.globalRegistry, { id: "Evidence", description: "Where something that Reeve says comes from." });

export const exitSchema = whenUsed(() =>
  z
    .object({
      code: z
        .nullable(z.int())
        .check(z.describe("Its exit code; null where a signal ended it or the code is not known.")),
      signal: textOrNull("The signal that ended it; null where none did."),
      at: instant("When it ended."),
    })
    .register(z.globalRegistry, { id: "Exit", description: "How a process ended." }),
);

export const healthVerdict = z.enum(HEALTH_VERDICTS);

export const healthSchema = whenUsed(() =>
  z
    .object({
      verdict: healthVerdict.check(
        z.describe(
          "slow: little is heard from its turn, but it is at work; nothing to do. stalled: nothing was heard from its turn for too long. hung: its process does not run although it should. parked: it waits until a usage limit resets. crash-looping: it was restarted several times and is down again.",
        ),
      ),
      since_at: instant("Since when that is so."),
      evidence: evidenceSchema.check(z.describe("How that is known.")),
    })
    .register(z.globalRegistry, { id: "Health", description: "How a session fares." }),
);

export const verdictSchema = z.enum(["completed", "failed", "interrupted"]);
export const livenessStatus = z.enum(["running", "exited", "absent", "unreachable"]);
export const observabilityStatus = z.enum(["pending", "observable", "lost"]);
export const activityStatus = z.enum(["starting", "working", "idle", "awaiting-approval", "awaiting-input", "unknown"]);

export const sessionViewSchema = whenUsed(() =>
  z
    .object({
      session_id: text("Its id; it never changes."),
      name: text("Its name; no two living sessions have the same."),
      role: text("What it is for, in a word that you chose; `agent` by default."),
      agent: text("What runs in it: codex, claude, gemini, command, or an agent of your settings."),
      state: z
        .enum(STATES)
        .check(
          z.describe(
            "planned: not started yet. error: it should run but does not; `reason` says why. stopped: it was ended, or its program ended.",
          ),
        ),
      desired: z
        .enum(["running", "paused", "stopped"])
        .check(z.describe("What was asked for, whether or not it is so yet.")),
      reason: text("Why it is in this state, in a sentence."),
      reason_code: text("The same for programs: a stable word."),
      evidence: evidenceSchema.check(z.describe("Where the reason comes from.")),
      activity: activityStatus.check(z.describe("What it is doing.")),
      activity_since: instant("Since when it does that."),
      asks: textOrNull("What it asks, while it waits for an approval or an input."),
      need: z
        .enum(NEEDS)
        .check(
          z.describe(
            "Whether it needs a person; look at the sessions in this order. blocked: it asks something, its process hangs, or nothing was heard from its turn. failed and finished: nobody has seen that yet. parked: it waits for a usage limit to reset.",
          ),
        ),
      need_since: instant("Since when that is so."),
      headline: text(
        "The one line that matters: what it asks, what it died of, or the last sentence it said. May be empty.",
      ),
      unseen: yesOrNo("Whether a turn or its process ended, or its branch changed, and nobody has looked since."),
      liveness: livenessStatus.check(
        z.describe(
          "Whether its process is there. exited and absent are proven; unreachable means that nobody could be asked.",
        ),
      ),
      liveness_evidence: text("How that is known."),
      observability: z
        .object({
          status: observabilityStatus.check(
            z.describe(
              "pending: there is no transcript yet. observable: it can be read. lost: it was there, and is not now.",
            ),
          ),
          expected: yesOrNo("Whether it is normal for this agent at this moment that there is no transcript."),
          reason: text("Why, in a sentence."),
          native_id: textOrNull("The agent's own id of the conversation; null until it is known."),
          transcript_path: textOrNull("The agent's own file; null until it is known."),
        })
        .check(z.describe("Whether its transcript can be read. This says nothing about whether it runs.")),
      wait: z
        .enum(["notification", "poll"])
        .check(
          z.describe("notification: call `wait_for_session`. poll: the agent tells nothing, so look at its data."),
        ),
      guidance: text("What to do next about this session, in a sentence."),
      runtime: z
        .object({
          kind: text("The runtime, such as tmux."),
          id: textOrNull("Its id there, such as a tmux pane; null while it has none."),
          pid: z.nullable(z.int()).check(z.describe("Its process; null while there is none on this machine.")),
        })
        .check(z.describe("Where it runs.")),
      cwd: text("The directory it was started in."),
      branch: branchSchema,
      git: gitSchema,
      worktree: textOrNull("The git worktree that Reeve made for it; null where it works in another directory."),
      pause_mode: z
        .nullable(z.enum(["detach", "suspend"]))
        .check(z.describe("detach: input is held back. suspend: its processes are stopped, too. null: not paused.")),
      turns: count("How many turns it has begun."),
      turn_open: yesOrNo("Whether a turn is under way."),
      last_turn: z
        .nullable(verdictSchema)
        .check(z.describe("How its newest turn ended; null while that is under way, or where nobody saw the end.")),
      last_turn_error: textOrNull("Why that turn failed; null otherwise."),
      failure: z
        .nullable(z.enum(FAILURE_KINDS))
        .check(
          z.describe(
            "Of which kind the last failure is, of its process, its branch or its newest turn; null while all is well.",
          ),
        ),
      account: textOrNull(
        "The account whose usage limits it draws on: the agent, and its id of the account or the home directory; null where it draws on none.",
      ),
      parked: z
        .nullable(parkedSchema)
        .check(z.describe("The usage limit that it has to wait for; null while it may go. A turn under way goes on.")),
      stalled_since: instantOrNull("Since when nothing was heard from the turn under way; null while all is well."),
      health: healthSchema.check(z.describe("How it fares, in one word.")),
      approvals: count("How many questions wait for an answer: see `list_approvals`."),
      background: z
        .array(
          z.object({
            kind: z.enum(["subagent", "command"]).check(z.describe("What it is.")),
            title: text("What it does."),
            holds_turn: yesOrNo("Whether the turn counts as under way until this has ended."),
          }),
        )
        .check(z.describe("What the agent left working beside its turns.")),
      usage: z.nullable(usageSchema).check(z.describe("Of the whole session, where the agent reports it.")),
      agent_version: textOrNull("The version of the agent's program; null where it could not be read."),
      watched_by: text("How it is watched, such as `hooks` or `app-server`; `explain_session` tells more."),
      exit: z
        .nullable(exitSchema)
        .check(z.describe("How its process ended; null while it runs or where that is not known.")),
      restart_policy: restartPolicySchema("Whether Reeve starts it again when its process ends by itself."),
      restarts: count("How many times it was started again."),
      restart_due_at: instantOrNull(
        "When Reeve will start it again; null where that is not planned. `reason` says which attempt it is.",
      ),
      created_at: instant("When it was recorded."),
      started_at: instantOrNull("When its process was started; null until then."),
      last_activity_at: instantOrNull("When it was last seen to do something; null until then."),
      ended_at: instantOrNull("When it was ended; null until then."),
      parent_session_id: textOrNull("The session that started it; null where none did."),
      notify: z
        .array(z.enum(WAKE_REASONS))
        .check(z.describe("What that session is woken for when it happens to this one; empty: nothing.")),
      wakes: z
        .object({
          acknowledged: cursor(
            "Up to here it knows what happened to the sessions that it started; it is not woken for that again.",
          ),
          message_id: textOrNull("The wake that waits to be given to it, or is being given; null where there is none."),
        })
        .check(z.describe("What it has been told of the sessions that it started.")),
      started_by: textOrNull(
        "Who asked for it: `operator`, `session:<id>` or `system`; null where an earlier version recorded it.",
      ),
      last_command: z
        .nullable(
          z.object({
            command: text(
              "interrupt, pause, resume, restart, end, cancel-end, answer, rename, hold, release-hold or set-restart-policy.",
            ),
            by: text("Who asked for it: `operator`, `session:<id>` or `system`."),
            at: instant("When."),
          }),
        )
        .check(z.describe("The last command that changed it; null where there was none.")),
      manifest: manifestSchema,
      held: heldSchema,
      timed_out: timedOutSchema,
      not_started_because: textOrNull("Why Reeve does not start it by itself; null where it does."),
      work: z
        .nullable(z.object({ work_id: text("The item."), title: text("What it is, in one line.") }))
        .check(z.describe("The item of work that it works on; null where it has none.")),
      outputs_dir: text("The directory with everything that Reeve keeps of it."),
      persistence: persistenceSchema,
      container: containerSchema,
      revision: count("How many times its record was changed."),
    })
    .register(z.globalRegistry, { id: "Session", description: "A session as it is now." }),
);

export type SessionView = z.infer<typeof sessionViewSchema>;

export function viewSession(session: Session, about: About): SessionView {
  const { wait, impediment, place, git, parked, work } = about;
  const { identity, wish, process, conversation, watch } = session;
  const need = needOf(session, parked?.hasWork);
  return {
    session_id: session.id,
    name: identity.name,
    role: identity.role,
    agent: identity.agent,
    state: session.state,
    desired: wish.desired,
    reason: stripTerminal(impediment === null ? session.reason.text : `${impediment} ${session.reason.text}`),
    reason_code: session.reason.code,
    evidence: {
      source: session.reason.evidence.source,
      detail: stripTerminal(session.reason.evidence.detail),
      at: iso(session.reason.evidence.at),
    },
    activity: conversation.activity.status,
    activity_since: iso(conversation.activity.evidence.at),
    asks: safeOrNull(conversation.activity.asks),
    need,
    need_since: iso(need === "parked" ? (parked?.quota.gate.sinceAt ?? 0) : needSince(session)),
    headline: oneLine(impediment ?? (need === "parked" ? parkedSentence(parked) : headlineOf(session))),
    unseen: isUnseen(session),
    liveness: process.liveness.status,
    liveness_evidence: stripTerminal(process.liveness.evidence.detail),
    observability: {
      status: watch.observability.status,
      expected: watch.observability.expected,
      reason: stripTerminal(watch.observability.reason),
      native_id: conversation.nativeId,
      transcript_path: watch.observability.transcriptPath,
    },
    wait,
    guidance: impediment === null ? guidanceOf(session, need) : stripTerminal(impediment),
    runtime: { kind: identity.runtime, id: place?.id ?? null, pid: place?.pid ?? null },
    cwd: stripTerminal(identity.launch.cwd),
    branch: viewBranch(session, git),
    git: viewGit(git),
    worktree: safeOrNull(session.checkout.worktree),
    pause_mode: wish.pauseMode,
    turns: conversation.turns,
    turn_open: conversation.turnOpen,
    last_turn: conversation.lastTurn?.verdict ?? null,
    last_turn_error: safeOrNull(conversation.lastTurn?.error ?? null),
    failure: process.failure ?? (isMismatched(session) ? BRANCH_MISMATCH : (conversation.lastTurn?.failure ?? null)),
    account: safeOrNull(accountOf(session)),
    parked: parked === null ? null : viewParked(parked, iso),
    stalled_since: isoOrNull(conversation.stalledAt),
    health: viewHealth(healthOf(session, { parked: need === "parked" ? parkedEvidence(parked) : null })),
    approvals: conversation.approvals.length,
    background: conversation.background.map(({ kind, title, holds }) => ({
      kind,
      title: stripTerminal(title),
      holds_turn: holds,
    })),
    usage:
      conversation.usage === null
        ? null
        : {
            input_tokens: conversation.usage.inputTokens,
            cached_input_tokens: conversation.usage.cachedInputTokens,
            output_tokens: conversation.usage.outputTokens,
            cost_usd: conversation.usage.costUsd,
          },
    agent_version: watch.version,
    watched_by: watch.mode,
    exit: process.exit === null ? null : { ...process.exit, at: iso(process.exit.at) },
    restart_policy: identity.restartPolicy,
    restarts: process.restart.count,
    restart_due_at: isoOrNull(process.restart.dueAt),
    created_at: iso(identity.createdAt),
    started_at: isoOrNull(process.startedAt),
    last_activity_at: isoOrNull(conversation.lastActivityAt),
    ended_at: isoOrNull(process.endedAt),
    parent_session_id: identity.parentId,
    notify: [...identity.notify],
    wakes: { acknowledged: session.wakes.acknowledged, message_id: session.wakes.open?.messageId ?? null },
    started_by: safeOrNull(identity.startedBy),
    last_command: viewCommand(wish.lastCommand),
    manifest: viewManifest(identity.manifest),
    held: viewHeld(session),
    timed_out: viewTimedOut(session),
    not_started_because: safeOrNull(wish.held?.reason ?? null),
    work: work === null ? null : { work_id: work.id, title: oneLine(work.title) },
    outputs_dir: identity.outputsDir,
    persistence: viewPersistence(session),
    container: viewContainer(session.identity.launch.container),
    revision: session.revision,
  };
}

function viewHealth({ verdict, sinceAt, evidence: { source, detail, at } }: Health): SessionView["health"] {
  return { verdict, since_at: iso(sinceAt), evidence: { source, detail: stripTerminal(detail), at: iso(at) } };
}

function viewBranch({ identity, checkout }: Session, git: GitStatus | null): SessionView["branch"] {
  const { head, mismatchAt, policy } = checkout;
  return {
    declared: identity.branch,
    actual: safeOrNull(head?.branch ?? null),
    commit: head?.commit ?? git?.commit ?? null,
    under_way: safeOrNull(head?.underWay ?? null),
    mismatch_since: isoOrNull(mismatchAt),
    policy,
  };
}

function viewGit(git: GitStatus | null): SessionView["git"] {
  if (git === null) return null;
  const { ahead, behind, dirty, askedAt } = git;
  return { ahead, behind, dirty, as_of: iso(askedAt) };
}

/** With the views that are made of sessions; what it does is in platform/. */
export { iso };

function viewCommand(last: LastCommand | null): SessionView["last_command"] {
  return last === null ? null : { command: stripTerminal(last.type), by: stripTerminal(last.by), at: iso(last.at) };
}

/** Enough for the widest terminal; what is asked in full is in `asks` and in the approvals. */
const LONGEST_HEADLINE = 300;

function oneLine(text: string): string {
  const line = stripTerminal(text).replace(/\s+/g, " ").trim();
  return line.length <= LONGEST_HEADLINE ? line : `${line.slice(0, LONGEST_HEADLINE - 1)}\u2026`;
}

function safeOrNull(text: string | null): string | null {
  return text === null ? null : stripTerminal(text);
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at);
}
