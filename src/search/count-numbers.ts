/** The numbers of `reeve stats`, from the rows that the index has per turn, answer and call. What is not known is null. */
import type { Grouping, Numbers, NumbersAsk, Percentiles } from "./contract.ts";
import type { IndexFile } from "./index-file.ts";

/** Days are those of this machine. */
const GROUP_BY = {
  agent: () => "agent",
  role: () => "role",
  session: () => "session",
  day: (at: string) => `date(${at} / 1000, 'unixepoch', 'localtime')`,
} as const satisfies Record<Grouping, (at: string) => string>;

interface Gathered {
  readonly sessions: Set<string>;
  readonly turns: { completed: number; failed: number; interrupted: number };
  readonly failures: Map<string, number>;
  readonly turnMs: number[];
  tokens: { input: number; cached: number; output: number } | null;
  costUsd: number | null;
  isCostPartial: boolean;
  readonly calls: { count: number; failed: number; readonly latencyMs: number[] };
}

export function countNumbers(file: IndexFile, ask: NumbersAsk): readonly Numbers[] {
  const groups = new Map<string, Gathered>();
  const gathered = (group: string): Gathered => {
    const known = groups.get(group) ?? nothing();
    groups.set(group, known);
    return known;
  };
  for (const row of turnsOf(file, ask)) {
    const to = gathered(row.name);
    to.sessions.add(row.session);
    to.turns[row.outcome] += 1;
    if (row.outcome === "failed")
      to.failures.set(row.failure ?? "unknown", (to.failures.get(row.failure ?? "unknown") ?? 0) + 1);
    if (row.ms !== null) to.turnMs.push(row.ms);
  }
  for (const row of usagesOf(file, ask)) {
    const to = gathered(row.name);
    to.sessions.add(row.session);
    const { input, cached, output } = to.tokens ?? { input: 0, cached: 0, output: 0 };
    to.tokens = { input: input + row.input, cached: cached + row.cached, output: output + row.output };
    if (row.cost !== null) to.costUsd = (to.costUsd ?? 0) + row.cost;
    to.isCostPartial ||= row.priced < row.answers;
  }
  for (const row of callsOf(file, ask)) {
    const { calls, sessions } = gathered(row.name);
    sessions.add(row.session);
    calls.count += 1;
    calls.failed += row.isError;
    if (row.latency !== null) calls.latencyMs.push(row.latency);
  }
  return [...groups.entries()].map(([group, found]) => numbersOf(group, found)).toSorted(byGroup);
}

function nothing(): Gathered {
  return {
    sessions: new Set(),
    turns: { completed: 0, failed: 0, interrupted: 0 },
    failures: new Map(),
    turnMs: [],
    tokens: null,
    costUsd: null,
    isCostPartial: false,
    calls: { count: 0, failed: 0, latencyMs: [] },
  };
}

function numbersOf(group: string, { sessions, failures, turnMs, calls, ...found }: Gathered): Numbers {
  return {
    group,
    sessions: sessions.size,
    failures: Object.fromEntries(failures),
    turnMs: percentiles(turnMs),
    ...found,
    isCostPartial: found.costUsd !== null && found.isCostPartial,
    calls: calls.count === 0 ? null : { ...calls, latencyMs: percentiles(calls.latencyMs) },
  };
}

/** Nearest rank: each is a value that was measured. */
export function percentiles(values: readonly number[]): Percentiles | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((one, other) => one - other);
  const rank = (percent: number): number => sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
  return { p50: rank(50), p90: rank(90), p99: rank(99) };
}

function byGroup({ group: one }: Numbers, { group: other }: Numbers): number {
  return one < other ? -1 : 1;
}

interface TurnRow {
  readonly name: string;
  readonly session: string;
  readonly outcome: "completed" | "failed" | "interrupted";
  readonly failure: string | null;
  readonly ms: number | null;
}

function turnsOf(file: IndexFile, ask: NumbersAsk): readonly TurnRow[] {
  return rowsOf<TurnRow>(
    file,
    ask,
    "turn",
    "ended_at",
    "outcome, failure, ended_at - started_at AS ms",
    "outcome IS NOT NULL",
  );
}

interface UsageSum {
  readonly name: string;
  readonly session: string;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly cost: number | null;
  readonly answers: number;
  readonly priced: number;
}

function usagesOf(file: IndexFile, ask: NumbersAsk): readonly UsageSum[] {
  const sums =
    "sum(input) AS input, sum(cached) AS cached, sum(output) AS output, sum(cost) AS cost, count(*) AS answers, count(cost) AS priced";
  return rowsOf<UsageSum>(file, ask, "usage", "at", sums, "1 = 1", "GROUP BY name, session");
}

interface CallSum {
  readonly name: string;
  readonly session: string;
  readonly latency: number | null;
  readonly isError: number;
}

function callsOf(file: IndexFile, ask: NumbersAsk): readonly CallSum[] {
  return rowsOf<CallSum>(file, ask, "model_call", "at", "latency_ms AS latency, is_error AS isError", "1 = 1");
}

function rowsOf<Row>(
  file: IndexFile,
  { by, since, until, sessionIds }: NumbersAsk,
  table: string,
  at: string,
  columns: string,
  condition: string,
  grouping = "",
): readonly Row[] {
  const among = sessionIds === null ? "" : "AND session IN (SELECT value FROM json_each(?))";
  return file.all<Row>(
    `SELECT ${GROUP_BY[by](at)} AS name, session, ${columns} FROM ${table}
     WHERE ${condition} AND coalesce(${at}, 0) >= ? AND coalesce(${at}, 0) < ? ${among} ${grouping}`,
    since ?? 0,
    until ?? Number.MAX_SAFE_INTEGER,
    ...(sessionIds === null ? [] : [JSON.stringify(sessionIds)]),
  );
}
