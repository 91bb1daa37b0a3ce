/**
 * Reeve as a second client of the session's own app-server: it receives what
 * happens as readings, and can send messages, answers and interrupts. `/new`
 * and `/clear` in the TUI begin another thread on the same server, which is
 * then the one to follow.
 *
 * If the rollout of a thread is gone, a client that connects later is not told
 * what happened before (0.166.0: "missing source rollout"). It is told what
 * happens from then on, and can start turns.
 */
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { Reading } from "../../session/reading.ts";
import type { Channel, ChannelContext } from "../contract.ts";
import { type AccountReader, createAccountReader } from "./account-reader.ts";
import { type Fields, fieldsOf, listOf, textOf } from "../../platform/json-fields.ts";
import { createLimitReader } from "./limit-reader.ts";
import { materialise, threadStartedByUser } from "./new-thread.ts";
import { connectRpc, type Rpc } from "./rpc.ts";
import { isThreadId } from "./thread-id.ts";
import { createThreadReader, type ThreadReader } from "./thread-reader.ts";

interface Followed {
  readonly threadId: string;
  readonly reader: ThreadReader;
  /** What came before the snapshot was read, to be read after it; null once it was. */
  early: (() => void)[] | null;
}

export async function openChannel({ socket, nativeId, onReading, onClose }: ChannelContext): Promise<Channel> {
  let followed: Followed | null = null;
  let account: AccountReader | null = null;
  const read = (take: (reader: ThreadReader) => void): void => {
    const now = followed;
    if (now === null) return;
    if (now.early === null) take(now.reader);
    else now.early.push(() => take(now.reader));
  };
  const limits = createLimitReader(onReading);
  const rpc = await connectRpc(socket, "1", {
    onNotification: (method, params, at) => {
      limits.readNotification(method, params, at);
      if (method === "account/updated") account?.look().catch(() => undefined);
      const begun = method === "thread/started" ? threadStartedByUser(params) : null;
      if (begun !== null && followed !== null && begun !== followed.threadId)
        follow(begun, "begun").catch(() => undefined);
      read((reader) => reader.readNotification(method, params));
    },
    onRequest: (method, params, id) => read((reader) => reader.readRequest(method, params, id)),
    onClose: (why) => {
      followed?.reader.close();
      onClose(why);
    },
  });

  /** A thread is idle for the server also behind the log-in dialog. */
  function tell(reading: Reading): void {
    const isBehindLogIn = account?.isMissing() === true && reading.activity === "idle" && reading.turn === undefined;
    if (!isBehindLogIn) onReading(reading);
  }

  /** One that was `found` on the server, and that Reeve was not told of, may still be in the making. */
  async function follow(threadId: string, origin: "known" | "found" | "begun"): Promise<void> {
    const next: Followed = { threadId, reader: createThreadReader(threadId, tell), early: [] };
    followed?.reader.close();
    followed = next;
    if (origin === "begun") await materialise(rpc, threadId);
    await readStanding(next, origin !== "found");
    const { early } = next;
    next.early = null;
    for (const take of early ?? []) take();
  }

  async function readStanding({ threadId, reader }: Followed, isMade: boolean): Promise<void> {
    try {
      // What makes the server tell this client of turns, items and questions; settings stay as they are.
      const page = { limit: 1 };
      reader.readSnapshot(await rpc.call("thread/resume", { threadId, excludeTurns: true, initialTurnsPage: page }));
    } catch (error) {
      if (!isRefusal(error) || !isMade) throw error;
      // Refused as well, and yet from here on the server tells this client what happens (0.166.0).
      await rpc.call("thread/resume", { threadId, excludeTurns: true }).catch(() => null);
      const { thread } = await rpc.call("thread/read", { threadId });
      reader.readUnfollowed(fieldsOf(thread), messageOf(error));
    }
  }

  try {
    account = createAccountReader(rpc, onReading);
    await account.look();
    if (nativeId === null) await follow(await loadedThread(rpc), "found");
    else await follow(nativeId, "known");
    return channelOver(rpc, () => followed);
  } catch (error) {
    rpc.close();
    throw error;
  }
}

function channelOver(rpc: Rpc, current: () => Followed | null): Channel {
  const now = (): Followed => {
    const followed = current();
    if (followed === null)
      throw notSent("thread-not-open", "Codex's app-server has no thread yet: try again in a second.");
    return followed;
  };
  return {
    async send(text, how) {
      const { threadId, reader } = now();
      const input = [{ type: "text", text, text_elements: [] }];
      const active = reader.activeTurn();
      const lost = reader.unfollowed();
      if (lost !== null) {
        if (how === "steer" || reader.isActive())
          throw notSent("turn-unknown", "A turn is under way, and Reeve does not know its id: wait for its end.");
        const begun = await rpc.call("turn/start", { threadId, input }).catch((error: unknown) => {
          throw isRefusal(error) ? threadLost(error) : error;
        });
        return `turn/start taken as turn ${nameOf(begun)}`;
      }
      if (how === "steer") {
        if (active === null)
          throw notSent(
            "turn-not-open",
            "No turn is under way, so there is nothing to steer: send it without --steer.",
          );
        const { turnId } = await rpc.call("turn/steer", { threadId, input, expectedTurnId: active });
        return `turn/steer taken by turn ${textOf(turnId) ?? active}`;
      }
      if (active !== null) throw notSent("turn-open", "A turn is under way: wait for its end, or send this into it.");
      return `turn/start taken as turn ${nameOf(await rpc.call("turn/start", { threadId, input }))}`;
    },
    async interrupt() {
      const { threadId, reader } = now();
      const turnId = reader.activeTurn();
      if (reader.unfollowed() !== null)
        throw notSent("turn-unknown", "A turn is under way, and Reeve does not know its id: wait for its end.");
      if (turnId === null) throw notSent("turn-not-open", "No turn is under way: there is nothing to interrupt.");
      await rpc.call("turn/interrupt", { threadId, turnId });
      return `turn/interrupt taken for turn ${turnId}`;
    },
    answer(approvalId, decision) {
      const { reader } = now();
      const question = reader.question(approvalId);
      if (question === null) {
        const message = "Codex no longer asks this: it was answered elsewhere, or its turn has ended.";
        return Promise.reject(notSent("approval-settled", message));
      }
      reader.noteAnswer(question, decision);
      rpc.answer(question.requestId, question.answer(decision));
      return Promise.resolve(`answered request ${question.requestId}: ${decision}`);
    },
    async ping() {
      await rpc.call("thread/loaded/list", {}).catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
      });
    },
    lacks: () => current()?.reader.unfollowed() ?? null,
    close() {
      current()?.reader.close();
      rpc.close();
    },
  };
}

/** The server is the session's own, so the one thread that lasts is the session's. */
async function loadedThread(rpc: Rpc): Promise<string> {
  const { data } = await rpc.call("thread/loaded/list", {});
  for (const id of listOf(data)) {
    if (!isThreadId(id)) continue;
    const { thread } = await rpc.call("thread/read", { threadId: id });
    if (fieldsOf(thread)["ephemeral"] !== true) return id;
  }
  throw notSent("thread-not-open", "Codex's app-server has no thread yet: try again in a second.");
}

function nameOf({ turn }: Fields): string {
  return textOf(fieldsOf(turn)["id"]) ?? "(unnamed)";
}

/** The server answered, and said no. */
function isRefusal(error: unknown): error is ReeveError {
  return error instanceof ReeveError && error.code === "agent-refused";
}

/** Tried again it would be refused again. */
function threadLost(error: ReeveError): ReeveError {
  const message = `Codex takes no more messages in this conversation (${error.message}), because its transcript is lost: end the session and start another.`;
  return new ReeveError({ code: "conversation-lost", kind: "conflict", message });
}

function notSent(code: string, message: string): ReeveError {
  return new ReeveError({ code, kind: "conflict", message, details: { sent: false } });
}
