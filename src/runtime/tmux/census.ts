/**
 * One look at all processes for everybody who asks at about the same time.
 * Each end of a session looks several times at every process of the machine;
 * fifty ends at once, each on its own, kept the daemon from answering for
 * seconds. A look begins after it was asked for, so nobody gets an old one.
 */
import { isDead, listProcesses, type ProcessRow } from "../../platform/process-table.ts";
import { markOf } from "./process-mark.ts";

export interface Census {
  /** Those that live. */
  readonly rows: readonly ProcessRow[];
  markOf(pid: number): string | null;
}

let coming: Promise<Census> | null = null;

export function takeCensus(): Promise<Census> {
  coming ??= new Promise((resolve) => {
    setImmediate(resolve);
  }).then(() => {
    coming = null;
    return look();
  });
  return coming;
}

function look(): Census {
  const marks = new Map<number, string | null>();
  return {
    rows: listProcesses().filter((row) => !isDead(row)),
    markOf(pid) {
      const known = marks.get(pid);
      if (known !== undefined) return known;
      const mark = markOf(pid);
      marks.set(pid, mark);
      return mark;
    },
  };
}
