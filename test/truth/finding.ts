/** What can be wrong with a claim: the columns of the table. Every one of them is to be zero. */
export const KINDS = {
  "false-ended": "told that it ended while its process lived",
  "false-idle": "told that it is idle, or that a turn is over, while it worked, asked or showed a dialog",
  "missed-wake": "something to wait for happened and no waiter was told, or far too late",
  "doubled-wake": "told twice, or told although nothing happened",
  "wrong-reason": "told with a reason or verdict that is not true",
  lost: "a message that was acknowledged never arrived, and nothing says so",
  doubled: "a message arrived twice",
  fused: "a message arrived with other text in it, or a text arrived that nobody sent",
  swallowed: "told that a message was delivered, and it never arrived",
  reordered: "messages arrived in another order than they were given",
  "wrong-outcome": "a message's outcome is not true, or was never told",
  "wrong-turn": "an interrupt stopped another turn than the one it was asked about, or did not stop that one",
  "reply-missing": "a turn was told complete and `data` did not show the reply",
  "false-lost": "told that the transcript is lost while it is there",
  "left-behind": "a process, pane, cgroup, socket or file was left after the end",
  "daemon-died": "a daemon died and nobody had killed it",
  "command-failed": "a command failed that had no reason to",
  stuck: "it never came to rest",
} as const;
export type Kind = keyof typeof KINDS;

export interface Finding {
  readonly kind: Kind;
  /** One sentence: what was claimed, what is true. */
  readonly text: string;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
}
