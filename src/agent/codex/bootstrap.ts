/**
 * A program of its own, run once at the start of an app-server session:
 *
 *     node bootstrap.js <request file>
 *
 * Waits for the server's socket, opens the session's thread on it (a new one,
 * or the one to continue), sees to it that its rollout exists, spools
 * `{"reeve":"codex-thread","thread_id":…,"rollout_path":…}`, and prints
 * `<thread id> prompt`, or `<thread id> -` when the first prompt is not to be
 * given (any more). A prompt is only given once Reeve's MCP server, which the
 * thread has started, has told its tools. The TUI attaches to that thread next.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errnoOf, messageOf } from "../../platform/reeve-error.ts";
import type { BootstrapRequest } from "./bootstrap-request.ts";
import { countOf, type Fields, fieldsOf, listOf, parseFields, textOf } from "../../platform/json-fields.ts";
import { materialise } from "./new-thread.ts";
import { TOOLS_LATE } from "../tools-awaited.ts";
import { connectRpc, type Rpc } from "./rpc.ts";
import { itemPrompt } from "./thread-state.ts";

/** The server listens 0.15 s after its start; on a machine with much to do, many times that. */
const SOCKET_MS = 30_000;

try {
  const request = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as BootstrapRequest;
  process.stdout.write(`${await open(request)}\n`);
  process.exit(0);
} catch (error) {
  process.stderr.write(`reeve: Codex's conversation could not be opened: ${messageOf(error)}\n`);
  process.exit(1);
}

async function open(request: BootstrapRequest): Promise<string> {
  const rpc = await connected(request.socket);
  const { thread, isNew } = await openThread(rpc, request);
  const { id, path } = thread;
  spool(request.spoolDir, { reeve: "codex-thread", thread_id: id, rollout_path: path });
  const isPromptDue = request.prompt !== null && (isNew || !(await hasPrompt(rpc, id, request)));
  if (isPromptDue && !(await hasTools(request))) spool(request.spoolDir, TOOLS_LATE);
  rpc.close();
  return `${id} ${isPromptDue ? "prompt" : "-"}`;
}

/** Whether they are there in time. What a dead server told counts no more. */
async function hasTools({ tools }: BootstrapRequest): Promise<boolean> {
  if (tools === null) return true;
  const deadline = performance.now() + tools.withinMs;
  while (!isToldIn(tools.readyPath)) {
    if (performance.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}

function isToldIn(path: string): boolean {
  try {
    const pid = Number(readFileSync(path, "utf8"));
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes(errnoOf(error) ?? "")) return false;
    throw error;
  }
}

interface Thread {
  readonly id: string;
  readonly path: string | null;
}

async function openThread(
  rpc: Rpc,
  request: BootstrapRequest,
): Promise<{ readonly thread: Thread; readonly isNew: boolean }> {
  const { cwd, model, resume, extraRoots, recordPath } = request;
  const common = {
    cwd,
    ...(model === null ? {} : { model }),
    ...(extraRoots.length === 0 ? {} : { runtimeWorkspaceRoots: [cwd, ...extraRoots] }),
  };
  if (resume !== null) {
    const response = await rpc.call("thread/resume", { ...common, threadId: resume, excludeTurns: true });
    return { thread: threadOf(response), isNew: false };
  }
  const thread = threadOf(await rpc.call("thread/start", { ...common, threadSource: "user" }));
  record(recordPath, { thread_id: thread.id, turns_before: 0 });
  await materialise(rpc, thread.id);
  return { thread, isNew: true };
}

/**
 * Whether the prompt reached this thread in an earlier incarnation: killed
 * between the two, Reeve may not know it. Turns that the thread had before
 * this session first opened it do not count.
 */
async function hasPrompt(rpc: Rpc, threadId: string, { prompt, recordPath }: BootstrapRequest): Promise<boolean> {
  // A version that cannot list turns cannot tell: then Reeve's word counts, that it has not been taken.
  const { data } = await rpc
    .call("thread/turns/list", { threadId, limit: 1000, sortDirection: "asc" })
    .catch(() => ({ data: [] }));
  const turns = listOf(data);
  const before = turnsBefore(recordPath, threadId);
  if (before === null) {
    record(recordPath, { thread_id: threadId, turns_before: turns.length });
    return false;
  }
  return turns
    .slice(before)
    .some((turn) => listOf(fieldsOf(turn)["items"]).some((item) => itemPrompt(fieldsOf(item)) === prompt));
}

function turnsBefore(recordPath: string, threadId: string): number | null {
  try {
    const known = parseFields(readFileSync(recordPath, "utf8"));
    return known?.["thread_id"] === threadId ? countOf(known["turns_before"]) : null;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** A link that a killed server left behind refuses; the new one replaces it. */
async function connected(socket: string): Promise<Rpc> {
  const deadline = performance.now() + SOCKET_MS;
  for (;;) {
    try {
      return await connectRpc(socket, "1", { onNotification: nothing, onRequest: nothing, onClose: nothing });
    } catch (error) {
      const code = errnoOf(error);
      const isAwaited = code === "ENOENT" || code === "ECONNREFUSED";
      if (!isAwaited || performance.now() > deadline) throw error;
      await sleep(20);
    }
  }
}

function nothing(): void {
  // The TUI is the one that listens.
}

function threadOf(response: Fields): Thread {
  const { id, path } = fieldsOf(response["thread"]);
  const name = textOf(id);
  if (name === null) throw new Error("its app-server named no thread");
  return { id: name, path: textOf(path) };
}

/** As hook.sh does: written under a name with a dot in front, and renamed. */
function spool(spoolDir: string, fields: Fields): void {
  const name = `${Date.now()}000000-${process.pid}.json`;
  writeFileSync(join(spoolDir, `.${name}`), `${JSON.stringify(fields)}\n`, { mode: 0o600 });
  renameSync(join(spoolDir, `.${name}`), join(spoolDir, name));
}

function record(path: string, fields: Fields): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(fields)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
