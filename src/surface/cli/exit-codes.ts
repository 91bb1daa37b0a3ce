/** Every exit status there is, for all commands. `reeve help exit-codes` and docs/spec/exit-codes.md are made from it. */
import type { OutputOf } from "../../client/operation-types.ts";

export type WaitReason = OutputOf<"waitForSession">["reason"];

/** What a wait ends with when what was waited for did not happen. */
export const WAIT_STATUS = {
  // Only where --for names something else.
  "turn-completed": 17,
  "turn-failed": 10,
  "turn-interrupted": 11,
  "awaiting-approval": 12,
  "awaiting-input": 13,
  exited: 14,
  stalled: 15,
  "nothing-to-wait-for": 16,
  /** sysexits(3) EX_TEMPFAIL: nothing is wrong, it just did not happen in time. */
  timeout: 75,
} as const satisfies Record<WaitReason, number>;

const TIMED_OUT = WAIT_STATUS.timeout;
/** As a shell reports a program that was interrupted. */
export const INTERRUPTED = 130;
/** As a shell reports a program that SIGPIPE ended. */
export const UNREAD = 141;

export interface ExitCode {
  readonly code: number;
  readonly name: string;
  readonly meaning: string;
}

export const EXIT_CODES: readonly ExitCode[] = [
  {
    code: 0,
    name: "done",
    meaning:
      "It was done. wait and --wait: what you waited for happened. That is a turn that completed, or with --for one of the reasons you named; for a program without turns, that it exited with 0.",
  },
  {
    code: 1,
    name: "not done",
    meaning:
      "It was not done, and the message says why: no such session, not possible in its state, a message that was refused or may not have arrived, an answer that did not take effect. doctor: there is a problem. daemon status: it is not running. work run: an item failed, or nothing can go on without you.",
  },
  {
    code: 2,
    name: "usage",
    meaning:
      "The command line or a value in it is wrong. Nothing was changed. plan: what runs differs from the manifest.",
  },
  {
    code: WAIT_STATUS["turn-failed"],
    name: "turn-failed",
    meaning: "The turn failed, for example because the model answered with an error.",
  },
  { code: WAIT_STATUS["turn-interrupted"], name: "turn-interrupted", meaning: "Somebody interrupted the turn." },
  {
    code: WAIT_STATUS["awaiting-approval"],
    name: "awaiting-approval",
    meaning: "The agent asks for an approval: answer with reeve approve or reeve deny.",
  },
  {
    code: WAIT_STATUS["awaiting-input"],
    name: "awaiting-input",
    meaning: "The agent asks for something else: see reeve data, answer with reeve send or reeve attach.",
  },
  {
    code: WAIT_STATUS.exited,
    name: "exited",
    meaning:
      "The session's process exited, was killed, or was ended; a program without turns: with another status than 0.",
  },
  {
    code: WAIT_STATUS.stalled,
    name: "stalled",
    meaning: "Nothing was heard from the turn for stall_seconds, or its process hangs.",
  },
  {
    code: WAIT_STATUS["nothing-to-wait-for"],
    name: "nothing-to-wait-for",
    meaning: "The session is idle, and what was asked last starts no turn, or it is paused; the message says why.",
  },
  {
    code: WAIT_STATUS["turn-completed"],
    name: "turn-completed",
    meaning: "wait --for: the turn completed without what you waited for.",
  },
  {
    code: 69,
    name: "unavailable",
    meaning: "Something Reeve needs is not there right now, for example the daemon.",
  },
  { code: TIMED_OUT, name: "timeout", meaning: "It did not happen within --timeout. Waiting again is fine." },
  { code: 77, name: "forbidden", meaning: "You have no permission, for example to open the daemon's socket." },
  {
    code: 78,
    name: "configuration",
    meaning:
      "The installation, the settings or the home directory must be fixed first, for example because tmux is missing. plan and up: the manifest has mistakes.",
  },
  { code: INTERRUPTED, name: "interrupted", meaning: "You pressed Ctrl-C." },
  {
    code: UNREAD,
    name: "unread",
    meaning:
      "Nobody reads the output any more (the program that read it has ended, or the terminal is closed), so the command stopped waiting. What you asked for goes on.",
  },
];

export const EXIT_CODE_NOTES: readonly string[] = [
  'The codes 10 to 17 and 75 come from wait, and from start, send, approve and deny with --wait; so `reeve send fix "..." --wait && deploy` deploys only if that turn completed.',
  "send without --wait exits with 0 as soon as the message is recorded, even if it still waits (for the end of a turn, for resume, or because the agent cannot be reached). A script tells the two apart with --json: `state` is `delivered`, or `admitted` while it waits.",
  "Several sessions: with --any (the default) the code is that of the session that woke; with --all it is 0 if every session gave 0, otherwise the code of the first one in your order that did not. pause, resume, restart and end: the code of the first one that failed.",
  "attach and daemon run end with the status of the program they run.",
];

/** Of a wait for one session, or for any of several. */
export function statusOfWait({ ok, reason }: { readonly ok: boolean; readonly reason: WaitReason }): number {
  return ok ? 0 : WAIT_STATUS[reason];
}
