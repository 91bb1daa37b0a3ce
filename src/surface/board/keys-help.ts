/** The keys of the board in words: for the line at the bottom and for help. press.ts does them. */
export interface KeyHelp {
  readonly keys: string;
  /** For help, which fits a small terminal; without it the key is told with another, or by the line at the bottom. */
  readonly does?: string;
  /** For the line at the bottom; without one it is only in help. */
  readonly short?: string;
  /** Told while sessions are picked, too: it acts on them, or says how to go on. */
  readonly group?: true;
  /** In help only while it can do something. */
  readonly isRare?: true;
}

export const KEYS: readonly KeyHelp[] = [
  { keys: "Tab", does: "next session that needs you (Shift-Tab: before)", short: "next" },
  { keys: "Enter", does: "attach; its status line shows how to come back", short: "attach" },
  { keys: "a", does: "approve what the session asks (d: deny)", short: "approve" },
  { keys: "d", short: "deny" },
  { keys: "r", does: "reply: type a line, send it with Enter", short: "reply", group: true },
  { keys: "n", does: "start a new session: an agent and a prompt", short: "new" },
  { keys: "p", does: "pause, resume, or start again what ended", short: "pause", group: true },
  { keys: "x", does: "end the session, after you confirm", short: "end", group: true },
  { keys: "/", does: "search: show only sessions with these words", short: "search" },
  { keys: "i", does: "interrupt the turn under way", short: "interrupt", group: true, isRare: true },
  { keys: "Space", does: "pick sessions (*: all); r p x i act on all picked", short: "pick", group: true },
  { keys: "f", does: "filter: all, needs me, working, idle", short: "filter" },
  { keys: "v", does: "preview the screen or the transcript", short: "view" },
  { keys: "j k", does: "down and up, as the arrow keys (g G: ends)" },
  { keys: "PgUp", does: "scroll the preview back (PgDn: forward)" },
  { keys: "Esc", does: "stop typing; clear search, filter, then picks", short: "clear", group: true },
  { keys: "R", does: "ask for everything again; starts the daemon" },
  { keys: "?", short: "help", group: true },
  { keys: "q", does: "leave the board; every session goes on", short: "quit", group: true },
];
