/** `list --watch`: the list again after every change, on the same screen or as one object per line. */
import type { Client } from "../../client/create-client.ts";
import type { OutputOf } from "../../client/operation-types.ts";
import { systemClock } from "../../platform/clock.ts";
import { summaryOf } from "../../session/need-order.ts";
import type { CliContext } from "./command.ts";
import { UNREAD } from "./exit-codes.ts";

type Listed = OutputOf<"listSessions">;

/** Several events of one moment are one picture. */
const TOGETHER_MS = 100;
/** Ages grow without an event. */
const OLDEST_MS = 5_000;
const CLEAR_LINE = "\u001B[K";

export async function watchList(
  context: CliContext,
  client: Client,
  list: () => Promise<Listed>,
  show: (listed: Listed) => Promise<string>,
): Promise<number> {
  const { output } = context;
  let listed = await list();
  const news = changes(client, listed.cursor);
  for (;;) {
    if (context.isJson) output.printJson(listed);
    else output.print(screenOf(await show(listed), summaryOf(listed.sessions)));
    if (!output.hasReader()) return UNREAD;
    await news.next(context.isJson ? null : OLDEST_MS);
    await systemClock.sleep(TOGETHER_MS);
    listed = await list();
  }
}

/** From the top of the screen, over what stood there; what does not fit is counted. */
function screenOf(table: string, summary: string): string {
  const lines = table.trimEnd().split("\n");
  const room = Math.max(3, (process.stdout.rows || 24) - 2);
  const shown = lines.length <= room ? lines : [...lines.slice(0, room - 1), `(${lines.length - room + 1} more)`];
  const text = [summary === "" ? "No sessions." : summary, ...shown].map((line) => `${line}${CLEAR_LINE}\n`).join("");
  return `\u001B[H${text}\u001B[J`;
}

/** Resolves at the next event, or after so long. */
function changes(client: Client, since: number): { next(mostMs: number | null): Promise<void> } {
  let isNew = false;
  let wake: (() => void) | null = null;
  let failure: unknown = null;
  const follow = async (): Promise<void> => {
    for await (const _ of client.followEvents({ since })) {
      isNew = true;
      wake?.();
    }
  };
  follow().catch((error: unknown) => {
    failure = error;
    wake?.();
  });
  return {
    async next(mostMs) {
      const over = new AbortController();
      const news = new Promise<void>((resolve) => (wake = resolve));
      const late = mostMs === null ? [] : [systemClock.sleep(mostMs, over.signal).catch(() => undefined)];
      if (!isNew && failure === null) await Promise.race([news, ...late]);
      over.abort();
      isNew = false;
      if (failure !== null) throw failure;
    },
  };
}
