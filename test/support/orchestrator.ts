/**
 * A session that starts others: the practice agent in it runs no commands, so
 * the test calls `reeve` as a program in that session would, with its pass.
 */
import { eventually } from "./eventually.ts";
import { insideOf } from "./session-caller.ts";
import type { EventRow, Result, SessionRow, TestHome } from "./test-home.ts";

export interface Notifications {
  readonly armed: readonly string[];
  readonly to: string | null;
  readonly by: string;
  readonly why: string;
}

export interface Started extends SessionRow {
  readonly cursor: number;
  readonly notifications: Notifications;
}

export interface Orchestrator {
  readonly id: string;
  readonly name: string;
  run(args: readonly string[]): Promise<Result>;
  json<T = Record<string, unknown>>(...args: readonly string[]): Promise<T>;
  /** A practice session of its own, idle unless it is given a prompt. */
  startWorker(name: string, ...args: readonly string[]): Promise<Started>;
  /** How often it was woken, and for what. */
  wakes(): Promise<readonly EventRow[]>;
  /** What it was told, oldest first, from its own transcript. */
  lines(): Promise<readonly string[]>;
}

export async function startOrchestrator(home: TestHome, name = "boss"): Promise<Orchestrator> {
  const { session_id: id } = await home.json<SessionRow>("start", "practice", "--name", name, "--cwd", home.dir);
  await idle(home, name);
  return orchestratorOf(home, id, name);
}

/** Also of one that was restarted: its pass is another by then. */
export function orchestratorOf(home: TestHome, id: string, name: string): Orchestrator {
  const run = async (args: readonly string[]): Promise<Result> =>
    home.run(args, { environment: await insideOf(home, { session_id: id }) });
  const self: Orchestrator = {
    id,
    name,
    run,
    async json<T>(...args: readonly string[]) {
      const { status, stdout, stderr } = await run([...args, "--json"]);
      if (status !== 0) throw new Error(`reeve ${args.join(" ")} ended with ${status}: ${stdout}${stderr}`);
      return JSON.parse(stdout) as T;
    },
    async startWorker(worker, ...args) {
      const started = await self.json<Started>("start", "practice", "--name", worker, "--cwd", home.dir, ...args);
      await eventually(`${worker} runs`, async () => (await home.session(worker)).liveness === "running");
      return started;
    },
    wakes: async () =>
      (await home.events()).filter(({ type, session_id }) => type === "wake-sent" && session_id === id),
    async lines() {
      // Before its first turn there is no transcript, only a screen.
      const { messages = [] } = await home.json<{ messages?: { role: string; text: string }[] }>("data", name);
      return messages.flatMap(({ role, text }) => (role === "user" && text.startsWith("[reeve]") ? [text] : []));
    },
  };
  return self;
}

export async function idle(home: TestHome, name: string): Promise<SessionRow> {
  return await eventually(`${name} is idle`, async () => {
    const session = await home.session(name);
    return session["activity"] === "idle" && session["turn_open"] === false && session;
  });
}

/** A turn that lasts until somebody lets it go. */
export async function keepBusy(home: TestHome, name: string): Promise<void> {
  await home.json("send", name, "sleep 3600");
  await eventually(`${name} works`, async () => (await home.session(name))["turn_open"] === true);
}

export async function letGo(home: TestHome, name: string): Promise<void> {
  await home.json("send", name, "Say hello", "--interrupt");
}
