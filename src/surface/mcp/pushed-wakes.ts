/**
 * What a client is to be woken for: the sessions that it started, what happened
 * to them, and what of that it was told already. No I/O.
 */
import type { WakeReason } from "../../session/wake.ts";
import type { Backend, Fields } from "./backend.ts";

type Heard = Backend["follow"] extends (...given: never[]) => AsyncIterable<infer Event> ? Event : never;

interface Watched {
  readonly name: string;
  /** What happened up to here was told by an answer. */
  told: number;
}

export interface PushedWake {
  readonly content: string;
  readonly cursor: number;
  readonly count: number;
}

export class PushedWakes {
  readonly #watched = new Map<string, Watched>();
  #due: { readonly id: string; readonly seq: number; readonly reason: WakeReason }[] = [];

  /** The cursor from which events are to be followed, where this answer started a session; null otherwise. */
  answered(verb: string, input: Fields, answer: Fields): number | null {
    const { session_id: id, name, cursor, woken } = answer;
    if (verb === "startSession" && typeof id === "string" && typeof name === "string") {
      const since = typeof cursor === "number" ? cursor : 0;
      this.#watched.set(id, { name, told: since });
      return since;
    }
    if (verb === "endSession") this.#forget(input["session"]);
    if (verb === "waitForSession" && typeof cursor === "number" && Array.isArray(woken))
      for (const row of woken as readonly Fields[]) this.#told(row["session_id"], cursor);
    return null;
  }

  /** Whether there is something to wake for now. */
  heard(event: Heard): boolean {
    // What wakes is decided by the daemon, for everybody.
    const { seq, session_id: id, wake: reason } = event;
    const watched = id === null ? undefined : this.#watched.get(id);
    if (id === null || watched === undefined || reason === undefined || seq <= watched.told) return false;
    this.#due.push({ id, seq, reason });
    return true;
  }

  /** All that is due, in one line; null where it was told meanwhile. */
  take(): PushedWake | null {
    const due = this.#due.filter(({ id, seq }) => seq > (this.#watched.get(id)?.told ?? Number.POSITIVE_INFINITY));
    this.#due = [];
    const last = due.at(-1);
    if (last === undefined) return null;
    const latest = [...new Map(due.map(({ id, reason }) => [id, reason]))];
    const what = latest.map(([id, reason]) => `${this.#watched.get(id)?.name ?? id} ${reason}`).join(", ");
    for (const { id, seq } of due) this.#told(id, seq);
    const events = due.length === 1 ? "1 event" : `${due.length} events`;
    return {
      content: `[reeve] wake ${last.seq}: ${events} in sessions that you started: ${what}. Not from your user. Truth: list_sessions, get_session_data.`,
      cursor: last.seq,
      count: due.length,
    };
  }

  #told(id: unknown, through: number): void {
    const watched = typeof id === "string" ? this.#watched.get(id) : undefined;
    if (watched !== undefined) watched.told = Math.max(watched.told, through);
  }

  /** It is named by its id, its name, or the beginning of its id. */
  #forget(reference: unknown): void {
    if (typeof reference !== "string") return;
    for (const [id, { name }] of this.#watched)
      if (id.startsWith(reference) || name === reference) this.#watched.delete(id);
  }
}
