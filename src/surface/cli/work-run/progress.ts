/**
 * What `reeve work run` shows: a line for each thing that happens to an item, and
 * on a terminal below it, drawn again and again, how far everything is.
 */
import type { EventView } from "../../../client/operation-types.ts";
import type { Output } from "../output.ts";
import { oneLine } from "../session-text.ts";
import { rulerFor } from "../text-ruler.ts";
import type { Plan, Step } from "./carry-out.ts";
import type { Progress } from "./pump.ts";

export interface RunProgress extends Progress {
  /** Takes the picture away; nothing is drawn after it. */
  close(): void;
  readonly done: ReadonlySet<string>;
  readonly failed: ReadonlyMap<string, string>;
}

/** Several changes of one moment are one picture. */
const TOGETHER_MS = 50;
const MOST_WORKERS_SHOWN = 12;

export function createProgress(output: Output, isSilent: boolean): RunProgress {
  const done = new Set<string>();
  const failed = new Map<string, string>();
  const isDrawn = output.isTerminal && !isSilent;
  let picture: { readonly plan: Plan; readonly long: readonly Step[] } | null = null;
  let drawn = 0;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  const erase = (): string => {
    const up = drawn === 0 ? "" : `\u001B[${drawn}A\u001B[J`;
    drawn = 0;
    return up;
  };
  async function draw(): Promise<void> {
    timer = null;
    if (picture === null || isClosed) return;
    const lines = pictureOf(picture.plan, picture.long, done.size, failed.size);
    const ruler = await rulerFor(lines);
    if (isClosed) return;
    const text = lines.map((line) => `${ruler.cut(line, (output.width ?? 80) - 1)}\n`).join("");
    output.print(`${erase()}${text}`);
    drawn = lines.length;
  }
  const drawSoon = (): void => {
    if (isDrawn && timer === null) timer = setTimeout(() => void draw(), TOGETHER_MS);
  };
  function line(text: string): void {
    if (isSilent) return;
    output.print(`${isDrawn ? erase() : ""}${text}\n`);
    drawSoon();
  }

  return {
    done,
    failed,
    shows(plan, long) {
      picture = { plan, long };
      drawSoon();
    },
    happened(event) {
      if (event.type !== "work-changed" && event.type !== "work-added") return;
      note(event, done, failed);
      line(lineOf(event, picture?.plan.workers ?? []));
    },
    troubled: ({ workId, title, text }) => line(lineText(workId ?? "-", "trouble", `${title ?? "a worker"}: ${text}`)),
    close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      if (drawn > 0) output.print(erase());
    },
  };
}

/** As wide as the longest state. */
const STATE_WIDTH = "changes-requested".length;

function lineText(id: unknown, state: unknown, rest: string): string {
  return `${String(id)}  ${String(state).padEnd(STATE_WIDTH)}  ${oneLine(rest)}`;
}

function lineOf({ type, data }: EventView, workers: Plan["workers"]): string {
  const { work_id: id, title, state, why, worker } = data;
  const name = workers.find(({ session_id: session }) => session === worker)?.session;
  const who = name === undefined ? "" : ` (${name})`;
  const because = typeof why === "string" ? `: ${why}` : "";
  return lineText(id, type === "work-added" ? "added" : state, `${String(title)}${who}${because}`);
}

function note({ data }: EventView, done: Set<string>, failed: Map<string, string>): void {
  const id = String(data["work_id"]);
  const { state, why } = data;
  failed.delete(id);
  done.delete(id);
  if (state === "done") done.add(id);
  if (state === "failed") failed.set(id, typeof why === "string" ? why : "no reason was given");
}

export function pictureOf(plan: Plan, long: readonly Step[], done: number, failed: number): readonly string[] {
  const { states, workers, held, blocked, queued } = plan;
  const needsYou = held.filter((one) => !one.goes_on || one.action === "send-details").length;
  const counts: readonly (readonly [number, string])[] = [
    [done, "done"],
    [failed, "failed"],
    [states["in-progress"], "at work"],
    [states.built + states["changes-requested"] + states.approved + states.finalised, "built"],
    [queued, "waiting for a worker"],
    [blocked, "waiting for others"],
    [needsYou, needsYou === 1 ? "needs you" : "need you"],
  ];
  const summary = counts.flatMap(([number, what]) => (number === 0 ? [] : [`${number} ${what}`])).join(", ");
  const inHand = new Map(long.map((step) => [step.session_id, step]));
  const shown = workers.slice(0, MOST_WORKERS_SHOWN).map(({ session, session_id: id, activity, title }) => {
    const step = inHand.get(id);
    const verifies = step?.action === "review" ? `is verified: ${step.title ?? ""}` : "is ended";
    return `  ${session}  ${activity}  ${oneLine(step === undefined ? (title ?? "free") : verifies)}`;
  });
  const more = workers.length - shown.length;
  return [summary === "" ? "The queue is empty." : summary, ...shown, ...(more > 0 ? [`  and ${more} more`] : [])];
}
