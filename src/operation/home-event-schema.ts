/**
 * Events that are about more than one session, or about Reeve itself, as the
 * API shows them: mail, the inbox, usage limits, worktrees, the daemon.
 */
import * as z from "zod/mini";
import type { EventType, SessionEvent } from "../session/event.ts";
import { INBOX_KINDS, INBOX_URGENCIES } from "../session/inbox-kind.ts";
import type { CommonFields } from "./event-fields.ts";
import { count, instant, instantOrNull, text, textOrNull, yesOrNo } from "./field.ts";
import { limitConfidence } from "./parked-view.ts";

/** For each type: what it means, and what its data holds. */
export function describeHomeEvents({ evidence, source, pid }: CommonFields) {
  const mail = {
    mail_id: text("The mail."),
    thread: text("The thread that it belongs to."),
    to: text("Whose mail it is: the id of a session, or `operator`."),
  };
  const sessions = count("How many sessions that concerns.");
  const priority = z.number().check(z.describe("Higher goes first."));
  const what = text("What was found, such as a process with its id.");
  const quota = {
    account: text("The account: the agent, and its id of the account."),
    limit: text("The vendor's name of the limit, or `unnamed`."),
  };
  const inboxItem = text("The item of the inbox.");
  const inboxKind = z.enum(INBOX_KINDS).check(z.describe("What it is about."));
  const worktree = {
    worktree_id: text("The worktree."),
    path: text("Where it is."),
    branch: text("The branch that it was made for."),
  };

  return {
    "mail-sent": [
      "Mail came for a session, or for the operator. What it says is in `read_mail`.",
      {
        ...mail,
        from: text("Who sent it: `operator`, `session:<id>` or `system`."),
        from_name: textOrNull("The name that the sending session had; null where no session sent it."),
        kind: z.enum(["note", "hand-off"]).check(z.describe("A hand-off passes work on to its recipient.")),
        priority: z.enum(["low", "normal", "high"]).check(z.describe("How urgent its sender finds it.")),
      },
    ],
    "mail-read": ["Its recipient has read a mail.", mail],
    "mail-archived": ["Its recipient has archived a mail.", mail],
    "mail-retracted": ["Its sender took a mail back before it was read.", mail],
    "inbox-opened": [
      "Something needs the operator. An item that comes back or gets worse is opened again, with the same id.",
      {
        item_id: inboxItem,
        kind: inboxKind,
        urgency: z.enum(INBOX_URGENCIES).check(z.describe("How urgent it is; blocked comes first.")),
        title: text("What happened, in one line."),
        text: text("What Reeve did about it, and what it suggests."),
      },
    ],
    "inbox-closed": [
      "Something does not need the operator any more.",
      { item_id: inboxItem, kind: inboxKind, why: text("Why.") },
    ],
    "inbox-acknowledged": ["The operator has taken note of an item.", { item_id: inboxItem }],
    "inbox-snoozed": [
      "The operator wants to be reminded of an item later.",
      { item_id: inboxItem, until_at: instant("When.") },
    ],
    "quota-parked": [
      "A usage limit is reached: sessions that draw on it wait until it resets.",
      {
        ...quota,
        until_at: instant("When one session tries again; the others follow if it gets an answer."),
        confidence: limitConfidence,
        source,
        text: text("What the agent said about it."),
        reported_by: text("The id of the session that met it."),
        sessions,
      },
    ],
    "quota-opened": [
      "A usage limit has been reset: the sessions that waited for it continue one by one.",
      {
        ...quota,
        sessions: count("How many sessions waited with something to do."),
        replaced_by: z
          .optional(z.string())
          .check(
            z.describe(
              "The limit's name, which became known: sessions wait for it under this name. Missing at a reset.",
            ),
          ),
      },
    ],
    "quota-warned": [
      "A usage limit is nearly reached.",
      {
        ...quota,
        used_percent: z.number().check(z.describe("How much of it is used, from 0 to 100.")),
        resets_at: instantOrNull("When it resets; null where nobody said."),
      },
    ],
    "worktree-made": [
      "A session got a worktree, or one that was there is used again.",
      {
        ...worktree,
        is_new: yesOrNo("False: it was there before."),
        commit: text("The commit that is checked out in it."),
        base: textOrNull("What its branch began from; null where the branch was there before."),
        source: z
          .nullable(z.enum(["fetched", "local"]))
          .check(z.describe("Whether the remote was asked for it just then; null where the branch was there before.")),
        committed_at: instantOrNull(
          "When the commit that it began from was made; null where the branch was there before.",
        ),
      },
    ],
    "worktree-kept": ["A worktree was not removed.", { ...worktree, why: text("Why it is kept.") }],
    "worktree-saved": [
      "The work in a worktree was saved as a commit.",
      { ...worktree, ref: text("The ref that leads to it."), commit: text("The commit.") },
    ],
    "worktree-removed": [
      "A worktree was removed.",
      {
        ...worktree,
        saved_ref: textOrNull("The ref under which its work is saved; null where nothing was left to save."),
      },
    ],
    "daemon-started": [
      "A daemon was started.",
      { pid: count("Its process."), version: text("Its version."), sessions },
    ],
    "daemon-stopped": ["The daemon was stopped.", { pid: count("Its process.") }],
    "daemon-died": [
      "The daemon before this one was killed or died of an error.",
      {
        pid,
        version: textOrNull("Its version; null where that is not known."),
        started_at: instantOrNull("When it was started; null where that is not known."),
        error: textOrNull("The error it died of, in its own words; null where it was killed."),
      },
    ],
    "runtime-lost": [
      "A runtime ended with the sessions in it.",
      { runtime: text("Which runtime."), sessions, evidence },
    ],
    "store-put-back": [
      "An older copy of the database was put back. Nothing that a session was told since then is told again as new.",
      {
        head: count("Where the copy ends."),
        highest: count("The highest cursor that was given out, as far as the sessions' files know."),
        sessions: count("How many living sessions know more than the copy."),
      },
    ],
    "store-rebuilt": [
      "The database could not be read, so Reeve rebuilt it from the files of the sessions.",
      { from: text("What it was rebuilt from."), sessions, quarantined: text("Where the old one was put.") },
    ],
    "state-file-quarantined": [
      "A session's state.json could not be used, and was put aside.",
      { path: text("Where it was."), why: text("What was wrong with it.") },
    ],
    "call-refused": [
      "A session called what it may not, or somebody called with a pass that is not good.",
      {
        operation: text("What was called."),
        target: textOrNull("What the call named, as it was written; null where it named nothing."),
        code: text("For programs: a stable word."),
        why: text("For people: a sentence."),
        times: z.optional(count("How often it was refused since the last such event; missing: once.")),
      },
    ],
    "notification-abandoned": [
      "A notification could not be sent for a whole day, so Reeve does not try it again.",
      {
        channel: text("The channel, as config.toml names it."),
        notification_id: text("The notification."),
        count: count("How many items of the inbox it was about."),
        attempts: count("How often it was tried."),
        why: text("What went wrong the last time."),
      },
    ],
    pruned: [
      "What was kept long enough was removed: ended sessions, old events, old mail.",
      {
        sessions: count("How many sessions, with their directories."),
        events: count("How many events."),
        mails: count("How many mails."),
        work_items: z.optional(count("How many items of work; missing in older logs.")),
        bytes: count("How many bytes in the directories of these sessions."),
        pruned_through: count("Events up to this one are no longer all there."),
      },
    ],
    "events-missed": [
      "Not in the log: a stream that begins before the oldest kept event tells you that events between are gone.",
      { since: count("Where the stream was."), through: count("The newest event that was removed.") },
    ],
    "work-added": [
      "An item of work was added to the queue.",
      { work_id: text("The item."), title: text("What it is."), priority },
    ],
    "work-changed": [
      "Something was done to an item of work.",
      {
        work_id: text("The item."),
        title: text("What it is."),
        change: text("What was done, in a word."),
        from: text("The state it was in."),
        state: text("The state it is in since."),
        worker: textOrNull("The session that works or worked on it; null where none does."),
        why: textOrNull("Why, where it was taken back, failed or was cancelled."),
      },
    ],
    "orphan-found": ["Something was found that a session had left behind.", { what, evidence }],
    "orphan-reaped": ["Something that a session had left behind was ended.", { what, evidence }],
  } as const satisfies Record<Exclude<EventType, SessionEvent["type"]>, readonly [string, z.core.$ZodShape]>;
}
