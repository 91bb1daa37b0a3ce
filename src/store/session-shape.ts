/**
 * Whether something read from a file is a Session. A state.json lies in a
 * directory its agent can write to, so nothing in it is taken on trust. Fields
 * this version does not know are let through, for files of later versions.
 */
import { SESSION_ID_PATTERN, STATES, type Session } from "../session/session.ts";

type Check = (value: unknown) => boolean;
/** One check for each field: the compiler sees to it that none is forgotten. */
type ShapeOf<Type> = { readonly [Key in keyof Type]-?: Check };

const text: Check = (value) => typeof value === "string";
const flag: Check = (value) => typeof value === "boolean";
const instant: Check = (value) => typeof value === "number" && Number.isFinite(value);
const count: Check = (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.some((known) => known === value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

const recordOf =
  (check: Check): Check =>
  (value) =>
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(check);

function object<Type>(shape: ShapeOf<Type>): Check {
  const checks = Object.entries<Check>(shape);
  return (value) => {
    if (typeof value !== "object" || value === null) return false;
    const fields = value as Readonly<Record<string, unknown>>;
    return checks.every(([key, check]) => Object.hasOwn(fields, key) && check(fields[key]));
  };
}

const source = oneOf(
  "operator",
  "session",
  "runtime",
  "protocol",
  "hook",
  "transcript",
  "status",
  "screen",
  "supervisor",
);
const evidence = object<Session["reason"]["evidence"]>({
  source,
  detail: text,
  at: instant,
});

const session = object<Session>({
  id: (value) => typeof value === "string" && SESSION_ID_PATTERN.test(value),
  name: text,
  role: text,
  agent: text,
  runtime: text,
  launch: object<Session["launch"]>({
    args: listOf(text),
    prompt: orNull(text),
    model: orNull(text),
    cwd: text,
    envFile: orNull(text),
    envNames: listOf(text),
    paths: recordOf(text),
  }),
  restartPolicy: oneOf("never", "on-failure", "always"),
  parentId: orNull(text),
  outputsDir: text,
  branch: orNull(text),
  startedBy: orNull(text),
  lastCommand: orNull(object<NonNullable<Session["lastCommand"]>>({ type: text, by: text, at: instant })),
  desired: oneOf("running", "paused", "stopped"),
  state: oneOf(...STATES),
  reason: object<Session["reason"]>({ code: text, text, evidence }),
  pauseMode: orNull(oneOf("detach", "suspend")),
  suspended: flag,
  stop: orNull(
    object<NonNullable<Session["stop"]>>({
      // oxlint-disable-next-line unicorn/no-thenable -- the field has this name; nobody awaits a table of checks
      next: oneOf("stopped", "restart", "rest"),
      graceMs: instant,
      afterTurn: flag,
    }),
  ),
  incarnation: count,
  // What is in it is the business of its runtime.
  place: orNull(recordOf(() => true)),
  createFailures: orNull(object<NonNullable<Session["createFailures"]>>({ count, sinceAt: instant })),
  liveness: object<Session["liveness"]>({ status: oneOf("running", "exited", "absent", "unreachable"), evidence }),
  observability: object<Session["observability"]>({
    status: oneOf("pending", "observable", "lost"),
    expected: flag,
    reason: text,
    transcriptPath: orNull(text),
  }),
  activity: object<Session["activity"]>({
    status: oneOf("starting", "working", "idle", "awaiting-approval", "awaiting-input", "unknown"),
    asks: orNull(text),
    evidence,
  }),
  nativeId: orNull(text),
  hasTurns: flag,
  turns: count,
  turnOpen: flag,
  lastTurn: orNull(
    object<NonNullable<Session["lastTurn"]>>({
      startedAt: orNull(instant),
      id: orNull(text),
      verdict: orNull(oneOf("completed", "failed", "interrupted")),
      error: orNull(text),
      verdictSource: orNull(source),
      isEnding: flag,
      earlier: listOf(text),
      inferred: listOf(
        object<NonNullable<Session["lastTurn"]>["inferred"][number]>({
          turn: count,
          id: orNull(text),
          verdict: oneOf("completed", "failed", "interrupted"),
          source,
        }),
      ),
    }),
  ),
  approvals: listOf(
    object<Session["approvals"][number]>({
      id: text,
      kind: oneOf("command", "edit", "tool", "other"),
      title: text,
      subject: orNull(text),
      cwd: orNull(text),
      reason: orNull(text),
      requestedAt: instant,
      answer: orNull(
        object<NonNullable<Session["approvals"][number]["answer"]>>({
          decision: oneOf("approved", "denied"),
          stage: oneOf("wanted", "given"),
          at: instant,
          by: text,
        }),
      ),
    }),
  ),
  background: listOf(
    object<Session["background"][number]>({ id: text, kind: oneOf("subagent", "command"), title: text, holds: flag }),
  ),
  stalledAt: orNull(instant),
  watch: object<Session["watch"]>({
    mode: text,
    text,
    version: orNull(text),
    socket: orNull(text),
    statusDir: orNull(text),
  }),
  transcriptCursor: orNull(
    object<NonNullable<Session["transcriptCursor"]>>({ identity: text, offset: count, isInLongLine: flag }),
  ),
  usage: orNull(
    object<NonNullable<Session["usage"]>>({
      inputTokens: count,
      cachedInputTokens: count,
      outputTokens: count,
      costUsd: orNull(instant),
    }),
  ),
  exit: orNull(object<NonNullable<Session["exit"]>>({ code: orNull(instant), signal: orNull(text), at: instant })),
  restart: object<Session["restart"]>({ count, recentAt: listOf(instant), dueAt: orNull(instant) }),
  held: orNull(object<NonNullable<Session["held"]>>({ reason: text, until: orNull(instant) })),
  notice: object<Session["notice"]>({
    said: orNull(text),
    lastLine: orNull(text),
    newsRevision: count,
    seenRevision: count,
  }),
  createdAt: instant,
  startedAt: orNull(instant),
  lastActivityAt: orNull(instant),
  endedAt: orNull(instant),
  revision: (value) => count(value) && value !== 0,
});

export function isSession(value: unknown): value is Session {
  return session(value);
}

/** What records of earlier versions did not have yet. */
const ADDED = {
  startedBy: null,
  lastCommand: null,
  createFailures: null,
  lastTurn: null,
  approvals: [],
  background: [],
  stalledAt: null,
  watch: { mode: "process", text: "", version: null, socket: null, statusDir: null },
  transcriptCursor: null,
  usage: null,
  notice: { said: null, lastLine: null, newsRevision: 0, seenRevision: 0 },
} as const satisfies Partial<Session>;

/** What the last turn of older records does not have. */
const ADDED_TO_TURN = { isEnding: false, inferred: [] } as const satisfies Partial<NonNullable<Session["lastTurn"]>>;

/** Earlier versions knew no other caller. */
const ADDED_TO_ANSWER = { by: "operator" } as const satisfies Partial<
  NonNullable<Session["approvals"][number]["answer"]>
>;

/**
 * A record as it was written, by this version or an earlier one, with every
 * field this one knows. What was there keeps its order: records are compared
 * by their text.
 */
export function completed(value: unknown): unknown {
  if (!isTable(value) || !("launch" in value)) return value;
  const { launch } = value;
  const added = { ...value, ...missingOf(ADDED, value), launch: isTable(launch) ? withPaths(launch) : launch };
  const whole = "approvals" in added ? { ...added, approvals: withAnswerers(added.approvals) } : added;
  if (!("lastTurn" in whole) || !isTable(whole.lastTurn)) return whole;
  return { ...whole, lastTurn: { ...whole.lastTurn, ...missingOf(ADDED_TO_TURN, whole.lastTurn) } };
}

function withPaths(launch: object): object {
  return "paths" in launch ? launch : { ...launch, paths: {} };
}

function withAnswerers(approvals: unknown): unknown {
  if (!Array.isArray(approvals)) return approvals;
  return approvals.map((approval: unknown) => {
    if (!isTable(approval) || !("answer" in approval) || !isTable(approval.answer)) return approval;
    return { ...approval, answer: { ...approval.answer, ...missingOf(ADDED_TO_ANSWER, approval.answer) } };
  });
}

function missingOf(fields: object, value: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !Object.hasOwn(value, key)));
}

function isTable(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
