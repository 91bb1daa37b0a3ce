/**
 * wait_for_session as a task, for clients that declared the tasks extension:
 * the model is free meanwhile, and the client asks with `tasks/get`. That is
 * answered as soon as the task is over, so a client that asks is woken. Nothing
 * is kept of a task but what its id says (task-id.ts); only that it was
 * cancelled is known to this connection alone.
 */
import type { ServerContext, StandardSchemaV1 } from "@modelcontextprotocol/server";
import type { Answer, Backend, Fields } from "./backend.ts";
import { TASKS_EXTENSION } from "./introduction.ts";
import type { TaskWait } from "./task-id.ts";
import { decodeTask, encodeTask } from "./task-id.ts";
import { resultOf } from "./tool-call.ts";

const CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
/** Well below the 60 s after which clients give up on a request. */
const LONGEST_HOLD_SECONDS = 20;
const POLL_AGAIN_MS = 500;
const MOST_CANCELLED = 1_000;

export type TaskState = Readonly<Record<string, unknown>> & { readonly taskId: string; readonly status: string };

export function wantsTasks({ mcpReq }: ServerContext): boolean {
  const envelope = (mcpReq.envelope ?? {}) as Fields;
  const { extensions } = (envelope[CLIENT_CAPABILITIES] ?? {}) as { readonly extensions?: Fields };
  return extensions?.[TASKS_EXTENSION] !== undefined;
}

export interface Tasks {
  /** The answer where there is one already, or a task. */
  begin(input: Fields, signal: AbortSignal): Promise<Answer | TaskState>;
  get(taskId: unknown, signal: AbortSignal): Promise<TaskState>;
  cancel(taskId: unknown): void;
  /** Throws if it is no task. */
  require(taskId: unknown): void;
}

/** What is wrong with an id is said by what reads it. */
const asItIs = <T>(): StandardSchemaV1<unknown, T> => ({
  "~standard": { version: 1, vendor: "reeve", validate: (value) => ({ value: value as T }) },
});

export const TASK_SCHEMAS = { params: asItIs<{ readonly taskId?: unknown }>(), result: asItIs<object>() };

export function createTasks(backend: Backend, now: () => number = Date.now): Tasks {
  const cancelled = new Set<string>();
  const held = new Set<{ readonly taskId: string; end(): void }>();

  /** Asked until it is over, cancelled, or long enough. */
  async function ask(taskId: string, wait: TaskWait, signal: AbortSignal): Promise<TaskState> {
    const leftSeconds = wait.endsAt === 0 ? LONGEST_HOLD_SECONDS : Math.max(0, (wait.endsAt - now()) / 1_000);
    const over = new AbortController();
    const hold = { taskId, end: () => over.abort() };
    held.add(hold);
    signal.addEventListener("abort", hold.end, { once: true });
    try {
      const question = questionOf(wait, Math.min(leftSeconds, LONGEST_HOLD_SECONDS));
      const result = await resultOf(backend, async () =>
        together(wait, await backend.call("waitForSession", question, over.signal)),
      );
      if (cancelled.has(taskId)) return stateOf(taskId, wait, "cancelled", now());
      const isOver = result.isError === true || result.structuredContent["reason"] !== "timeout";
      const isLate = wait.endsAt !== 0 && now() >= wait.endsAt;
      if (!isOver && !isLate) return stateOf(taskId, wait, "working", now());
      return { ...stateOf(taskId, wait, "completed", now()), result };
    } finally {
      held.delete(hold);
      signal.removeEventListener("abort", hold.end);
    }
  }

  return {
    async begin(input, signal) {
      const answer = await backend.call("waitForSession", { ...input, timeout_seconds: 0 }, signal);
      const seconds = input["timeout_seconds"];
      if (answer.value["reason"] !== "timeout" || seconds === 0) return answer;
      const wait = waitOf(input, answer.value, now());
      const taskId = encodeTask(wait);
      return taskId === null ? answer : { resultType: "task", ...stateOf(taskId, wait, "working", now()) };
    },

    async get(taskId, signal) {
      const wait = decodeTask(taskId);
      const id = String(taskId);
      if (cancelled.has(id)) return stateOf(id, wait, "cancelled", now());
      return await ask(id, wait, signal);
    },

    require: (taskId) => void decodeTask(taskId),

    cancel(taskId) {
      decodeTask(taskId);
      const id = String(taskId);
      cancelled.add(id);
      const [oldest] = cancelled;
      if (cancelled.size > MOST_CANCELLED && oldest !== undefined) cancelled.delete(oldest);
      for (const hold of held) if (hold.taskId === id) hold.end();
    },
  };
}

function stateOf(taskId: string, { createdAt, endsAt }: TaskWait, status: string, now: number): TaskState {
  return {
    taskId,
    status,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(now).toISOString(),
    ttlMs: endsAt === 0 ? null : endsAt - createdAt,
    pollIntervalMs: POLL_AGAIN_MS,
  };
}

/** From now on it is about these sessions and this cursor, whatever is asked of them later. */
function waitOf(input: Fields, answer: Fields, now: number): TaskWait {
  const woken = answer["woken"] as readonly { session_id: string; name: string; reason: string; ok: boolean }[];
  const { timeout_seconds: seconds, mode, for: wanted } = input;
  return {
    sessions: answer["asleep"] as readonly string[],
    mode: mode === "all" ? "all" : "any",
    for: Array.isArray(wanted) ? (wanted as readonly string[]) : [],
    since: Number(answer["cursor"]),
    createdAt: now,
    endsAt: typeof seconds === "number" ? Math.round(now + seconds * 1_000) : 0,
    before: woken.map(({ session_id: id, name, reason, ok }) => ({ id, name, reason, ok })),
  };
}

function questionOf({ sessions, mode, for: wanted, since }: TaskWait, seconds: number): Fields {
  const [session, ...also] = sessions;
  return { session, also, mode, for: wanted, since, reply: true, timeout_seconds: seconds };
}

/** Those that woke before the task began count too. */
function together({ mode, before }: TaskWait, answer: Answer): Answer {
  if (before.length === 0) return answer;
  const early = before.map(({ id, name, reason, ok }) => ({
    session_id: id,
    name,
    reason,
    ok,
    why: null,
    reply: null,
  }));
  const { value } = answer;
  const ok = value["ok"] === true && (mode === "any" || before.every((one) => one.ok));
  const both = { ...value, ok, woken: [...early, ...(value["woken"] as readonly object[])] };
  return { value: both, text: JSON.stringify(both) };
}
