/**
 * Puts the facts of a recovery into sections, in the order in which somebody
 * who comes back should read them. Each statement says where it comes from and
 * from when. Texts that somebody else wrote are quoted.
 */
import { clipped } from "./mail.ts";
import type { CheckoutFacts, Found, RecoveryFacts, TurnFact, WakeFacts } from "./recovery.ts";
import { nextSteps } from "./recovery-step.ts";

export const RECOVERY_SECTIONS = [
  "mail",
  "wakes",
  "prompt",
  "checkout",
  "turn",
  "messages",
  "reeve",
  "work",
  "layers",
  "next",
] as const;
export type RecoverySection = (typeof RECOVERY_SECTIONS)[number];

export interface Statement {
  readonly text: string;
  /** Where it comes from. */
  readonly source: string;
  /** From when it is; null: nobody knows. */
  readonly at: number | null;
  /** False: it says what could not be found out. */
  readonly isKnown: boolean;
}

export interface Section {
  readonly section: RecoverySection;
  readonly title: string;
  /** The first says the most important of it. */
  readonly statements: readonly Statement[];
  /** The command that tells the rest. */
  readonly more: string;
}

export function recoverySections(facts: RecoveryFacts): readonly Section[] {
  const { name } = facts.session;
  return [
    section("mail", "Unread mail", mailStatements(facts), "reeve mail check"),
    section("wakes", "Wakes", wakeStatements(facts), `reeve explain ${name}`),
    section("prompt", "Newest prompt", promptStatements(facts), `reeve data ${name}`),
    section("checkout", "Checkout", checkoutStatements(facts), "git status"),
    section("turn", "Last turn", turnStatements(facts), `reeve show ${name}`),
    section("messages", "Queued messages", messageStatements(facts), `reeve messages ${name}`),
    section("reeve", "What Reeve did", doingStatements(facts), `reeve events --session ${name}`),
    section("work", "Work", workStatements(facts), "reeve work list"),
    section("layers", "Layers", layerStatements(facts), `reeve doctor ${name}`),
    section("next", "Next safe step", stepStatements(facts), `reeve recover ${name} --details`),
  ];
}

function section(key: RecoverySection, title: string, statements: readonly Statement[], more: string): Section {
  return { section: key, title, statements, more };
}

function say(text: string, source: string, at: number | null): Statement {
  return { text, source, at, isKnown: true };
}

/** What was found, or the one statement that it was not. */
function of<T>(found: Found<T>, what: string, source: string, tell: (value: T) => readonly Statement[]) {
  if (found.known) return tell(found.value);
  return [{ text: `${what} could not be found out: ${found.why}.`, source, at: found.at, isKnown: false }];
}

const MOST_QUOTED = 200;

/** Somebody else's words, on one line. */
export function quote(text: string): string {
  return `"${clipped(text.replace(/\s+/g, " ").trim(), MOST_QUOTED).replaceAll('"', "'")}"`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function mailStatements({ mail }: RecoveryFacts): readonly Statement[] {
  return of(mail, "Its mail", "mailbox", (mails) => {
    if (mails.length === 0) return [say("none.", "mailbox", mail.at)];
    const handOffs = mails.filter(({ kind }) => kind === "hand-off");
    const head = `${counted(mails.length, "mail")}, ${counted(handOffs.length, "hand-off")}. Read them first (check_mail, read_mail).`;
    const first = [...handOffs, ...mails.filter(({ kind }) => kind !== "hand-off")];
    return [
      say(head, "mailbox", mail.at),
      ...first.map(({ id, from, kind, priority, subject, preview, sentAt }) => {
        const urgency = priority === "normal" ? "" : `, ${priority} priority`;
        if (subject === null) return say(`${kind} ${id} from ${from}${urgency}`, "mailbox", sentAt);
        const asks = preview.startsWith(subject) ? "" : `; it begins ${quote(preview)}`;
        return say(`${kind} ${id} from ${from}${urgency}: ${quote(subject)}${asks}`, "mailbox", sentAt);
      }),
    ];
  });
}

/** A wake from before the restart is noise, unless it told of a hand-off that is still unread. */
function wakeStatements({ wakes, mail, session }: RecoveryFacts): readonly Statement[] {
  return of(wakes, "Its wakes", "log", ({ restartedAt, given, due, stale }: WakeFacts) => {
    const handOffs = mail.known ? mail.value.filter(({ kind }) => kind === "hand-off") : [];
    const isOld = ({ at }: { readonly at: number }): boolean => restartedAt !== null && at < restartedAt;
    const bringing = (wake: WakeFacts["given"][number]) =>
      handOffs.filter(({ seq }) => seq > wake.since && seq <= wake.through);
    const fresh = given.filter((wake) => !isOld(wake));
    const old = given.filter(isOld);
    const carrying = old.filter((wake) => bringing(wake).length > 0);
    const noise = old.length - carrying.length;
    const since = restartedAt === null ? "" : session.isRunning ? " since the restart" : " since its process ended";
    const head = [
      `${fresh.length} given${since}`,
      `${due.length} still to be told`,
      ...(noise === 0 ? [] : [`${noise} old, noise: ignore what they say`]),
    ].join("; ");
    return [
      say(`${head}.`, "log", wakes.at),
      ...carrying.map((wake) => {
        const names = bringing(wake).map(({ id }) => id);
        return say(
          `Wake ${wake.through} is old, but its hand-off ${names.join(", ")} is still unread: not noise.`,
          "log",
          wake.at,
        );
      }),
      ...due.map(({ name, reason, at }) => say(`To be told: ${name} ${reason}.`, "log", at)),
      ...fresh.map(({ through, count, at }) => say(`Wake ${through}: ${counted(count, "event")}.`, "log", at)),
      ...(stale === 0
        ? []
        : [say(`${counted(stale, "event")} older than a week; no wake tells of them.`, "log", null)]),
    ];
  });
}

function promptStatements({ prompt }: RecoveryFacts): readonly Statement[] {
  return of(prompt, "What it was asked last", "transcript", (found) => [
    found === null
      ? say("it was asked nothing yet.", "record", prompt.at)
      : say(quote(found.text), found.source, found.at),
  ]);
}

function checkoutStatements({ checkout }: RecoveryFacts): readonly Statement[] {
  return of(checkout, "Its checkout", "git", (found) => {
    if (found === null) return [say("its directory is in no git repository.", "git", checkout.at)];
    const { declared, actual, underWay, changed, conflicted, untracked, stashes, locks, moves } = found;
    const isOther = declared !== null && declared !== actual;
    const branch = `on ${actual}${isOther ? `, NOT on ${declared} as declared` : declared === null ? "" : " as declared"}`;
    const files = [
      ...(conflicted.length === 0 ? [] : [`${conflicted.length} in conflict`]),
      `${changed.length} changed`,
      `${untracked.length} untracked`,
    ].join(", ");
    const git = (text: string, at: number | null = checkout.at): Statement => say(text, "git", at);
    return [
      git(`${branch}; ${files}${distance(found)}.`),
      ...underWay.map((what) => git(`Under way: ${what}.`)),
      ...(moves.known
        ? moves.value.map((move) => say(`HEAD moved while it was away: ${quote(move)}`, "reflog", moves.at))
        : [{ ...say(`Whether HEAD moved could not be found out: ${moves.why}.`, "reflog", moves.at), isKnown: false }]),
      ...(moves.known && moves.value.length === 0
        ? [say("HEAD did not move while it was away.", "reflog", moves.at)]
        : []),
      ...locks.map(({ path, madeAt }) => git(`Lock file: ${path}`, madeAt)),
      ...listing("In conflict", conflicted).map((text) => git(text)),
      ...listing("Changed", changed).map((text) => git(text)),
      ...listing("Untracked", untracked).map((text) => git(text)),
      ...stashes.map((stash) => git(`Stash: ${quote(stash)}`)),
    ];
  });
}

function distance({ ahead, behind }: CheckoutFacts): string {
  return ahead === null || behind === null ? "; no upstream" : `; ${ahead} ahead, ${behind} behind its upstream`;
}

const FILES_A_LINE = 4;

function listing(title: string, paths: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (let at = 0; at < paths.length; at += FILES_A_LINE)
    lines.push(`${title}: ${paths.slice(at, at + FILES_A_LINE).join(", ")}`);
  return lines;
}

const HOW = {
  "under-way": "is under way",
  completed: "completed",
  failed: "failed",
  interrupted: "was interrupted",
  "cut-short": "was cut short: its process ended in the middle of it",
  lost: "is lost: its process ended in the middle of it, and there is no transcript of it",
} as const satisfies Record<TurnFact["how"], string>;

function turnStatements({ turn }: RecoveryFacts): readonly Statement[] {
  return of(turn, "Its last turn", "record", (found) => {
    if (found === null) return [say("it has had none.", "record", turn.at)];
    const error = found.error === null ? "" : `: ${quote(found.error)}`;
    return [
      say(`turn ${found.turn} ${HOW[found.how]}${error}.`, found.source, found.at),
      ...(found.call === null
        ? []
        : [
            say(
              `It stopped in the tool call ${found.call.tool} ${quote(found.call.input)}, which has no result: check what it did before you repeat it.`,
              "transcript",
              found.call.at,
            ),
          ]),
      ...(found.callUnknown === null
        ? []
        : [
            {
              ...say(`At which tool call is not known: ${found.callUnknown}.`, "transcript", turn.at),
              isKnown: false,
            },
          ]),
      ...(found.later === null ? [] : [say(`Turn ${found.later} began after the restart.`, "record", turn.at)]),
    ];
  });
}

function messageStatements({ messages, now }: RecoveryFacts): readonly Statement[] {
  if (messages.length === 0) return [say("none.", "mailbox", now)];
  return [
    say(`${counted(messages.length, "message waits", "messages wait")} to be given to it.`, "mailbox", now),
    ...messages.map(({ id, by, state, text, at }) =>
      say(`${id} from ${by}${state === "leased" ? " (being typed)" : ""}: ${quote(text)}`, "mailbox", at),
    ),
  ];
}

function doingStatements({ doings, session }: RecoveryFacts): readonly Statement[] {
  const state = say(`it is ${session.state}: ${session.reason}`, "record", session.reasonAt);
  return [state, ...of(doings, "What happened to it", "log", (all) => all.map(({ what, at }) => say(what, "log", at)))];
}

function workStatements({ work, now }: RecoveryFacts): readonly Statement[] {
  if (work.length === 0) return [say("it has no item of work.", "queue", now)];
  return work.map(({ id, title, state, since }) => say(`${id} (${state}): ${quote(title)}`, "queue", since));
}

function layerStatements({ layers, now, session }: RecoveryFacts): readonly Statement[] {
  if (layers !== null)
    return layers.map(({ layer, verdict, detail }) => say(`${layer}: ${verdict}. ${detail}`, "diagnosis", now));
  const text = `they were not looked at; before you call anything down, run: reeve doctor ${session.name}`;
  return [{ ...say(text, "diagnosis", null), isKnown: false }];
}

function stepStatements(facts: RecoveryFacts): readonly Statement[] {
  return nextSteps(facts).map((step) => say(step, "rules", facts.now));
}
