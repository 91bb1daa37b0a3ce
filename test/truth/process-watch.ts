/** Watches the processes of one session in the kernel: which is the main one of each incarnation, and when it was gone. */
import type { TestHome } from "../support/test-home.ts";
import type { Event, TrueBirth, TrueDeath } from "./history.ts";
import type { NamedProcess } from "./kernel.ts";
import { isThere, mainProcess } from "./kernel.ts";

export interface ProcessWatch {
  /** Of the newest incarnation. */
  main(): NamedProcess | null;
  isAlive(): boolean;
  /** The main process was there at that time, and still is. */
  wasAliveSince(at: number): boolean;
  /** Why the next death comes about, if the harness is the cause. */
  expect(cause: TrueDeath["cause"]): void;
  /** Looks a last time and stops. The events name incarnations that lived too shortly to be seen. */
  stop(events: readonly Event[]): { readonly births: readonly TrueBirth[]; readonly deaths: readonly TrueDeath[] };
}

const LOOK_MS = 100;
/** A cause explains what happens soon after it: an end waits for a turn. */
const EXPLAINS_MS = 30_000;

export function watchProcesses(
  home: TestHome,
  sessionId: () => string,
  onDeath: (death: TrueDeath) => void,
): ProcessWatch {
  const mains = new Map<number, NamedProcess>();
  const births: TrueBirth[] = [];
  const deaths: TrueDeath[] = [];
  const causes: { readonly at: number; readonly cause: TrueDeath["cause"] }[] = [];
  const timer = setInterval(look, LOOK_MS);

  /** The incarnation is read off the processes themselves: each carries it in its mark. */
  function look(): void {
    if (sessionId() === "") return;
    const newest = Math.max(0, ...mains.keys());
    const known = mains.get(newest);
    if (known !== undefined && isThere(known)) return;
    if (known !== undefined && !deaths.some(({ incarnation }) => incarnation === newest)) addDeath(newest);
    for (const incarnation of new Set(home.marked(sessionId()).map((found) => found.incarnation))) {
      if (mains.has(incarnation)) continue;
      const found = mainProcess(home, sessionId(), incarnation);
      if (found === null) continue;
      mains.set(incarnation, found);
      births.push({ incarnation, at: Date.now() });
    }
  }

  function addDeath(incarnation: number): void {
    const at = Date.now();
    const cause = causes.findLast((one) => at - one.at < EXPLAINS_MS)?.cause ?? "exited";
    const death = { incarnation, at, cause };
    deaths.push(death);
    onDeath(death);
  }

  const watch: ProcessWatch = {
    main: () => mains.get(Math.max(0, ...mains.keys())) ?? null,
    isAlive: () => {
      const main = watch.main();
      return main !== null && isThere(main);
    },
    wasAliveSince(at) {
      const newest = births.at(-1);
      return newest !== undefined && newest.at <= at && watch.isAlive();
    },
    expect: (cause) => void causes.push({ at: Date.now(), cause }),
    stop(events) {
      clearInterval(timer);
      look();
      for (const event of events.filter(({ type }) => type === "session-exited")) {
        const incarnation = Number(event.data["incarnation"]);
        // That nothing carries its mark is the proof that it is gone.
        const isSeen =
          mains.has(incarnation) || home.marked(sessionId()).some((one) => one.incarnation === incarnation);
        if (!isSeen) deaths.push({ incarnation, at: event.at, cause: "exited" });
      }
      return { births, deaths: deaths.toSorted((one, other) => one.incarnation - other.incarnation) };
    },
  };
  return watch;
}
