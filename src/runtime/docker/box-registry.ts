/**
 * One driver for each incarnation that somebody asks about, whether its
 * container is there yet or not: a listener may come first. A driver finds its
 * container by its labels when it first needs it.
 */
import type { Clock } from "../../platform/clock.ts";
import { formatMark, type Target } from "../contract.ts";
import { type Box, createBox } from "../boxed/box.ts";
import type { ChangeHints } from "../driver/change-hints.ts";
import { noTerminal } from "../driver/pane-directory.ts";
import type { ContainerRecords, FoundContainer } from "./container-record.ts";
import type { EngineClient } from "./engine-client.ts";
import { execTransport } from "./exec-transport.ts";

export interface BoxRegistry {
  of(target: Target): Box;
  /** Its container is this one: it need not be looked for. */
  meet(found: FoundContainer): Box;
  /** Its container was removed. */
  forget(target: Target, why: string): void;
  /** How many containers were met so far: those met later say nothing about an earlier question. */
  readonly generation: number;
  /** Of all drivers whose container was met by then, those that are not among these have none any more. */
  keepOnly(found: readonly FoundContainer[], generation: number): void;
  close(): Promise<void>;
}

interface Entry {
  readonly box: Box;
  readonly target: Target;
  containerId: string | null;
  /** Zero while no container was met. */
  metAs: number;
}

export function createBoxRegistry(parts: {
  readonly engine: EngineClient;
  readonly records: ContainerRecords;
  readonly instance: string;
  readonly user: () => Promise<string>;
  readonly hints: ChangeHints;
  readonly clock: Clock;
  readonly log: (message: string, fields?: object) => void;
}): BoxRegistry {
  const { engine, records, instance } = parts;
  const entries = new Map<string, Entry>();
  let met = 0;

  const make = (target: Target): Entry => {
    const mark = formatMark(instance, target);
    const transport = async () => {
      const entry = entryOf(target);
      if (entry.containerId === null) {
        const found = await records.find(target);
        if (found === null) throw noTerminal(target);
        note(entry, found);
      }
      return execTransport(engine, entry.containerId ?? "", { user: await parts.user() });
    };
    const entry: Entry = { box: createBox({ ...parts, target, transport }), target, containerId: null, metAs: 0 };
    entries.set(mark, entry);
    return entry;
  };

  const note = (entry: Entry, { id }: FoundContainer): void => {
    if (entry.containerId === id) return;
    entry.containerId = id;
    entry.metAs = met += 1;
  };

  const entryOf = (target: Target): Entry => entries.get(formatMark(instance, target)) ?? make(target);

  const forget = (target: Target, why: string): void => {
    const mark = formatMark(instance, target);
    const entry = entries.get(mark);
    entries.delete(mark);
    entry?.box.drop(why);
  };

  return {
    of: (target) => entryOf(target).box,
    meet(found) {
      const entry = entryOf(found.target);
      note(entry, found);
      return entry.box;
    },
    forget,
    get generation() {
      return met;
    },
    keepOnly(found, generation) {
      const ids = new Set(found.map(({ id }) => id));
      for (const { containerId, metAs, target } of entries.values())
        if (containerId !== null && metAs <= generation && !ids.has(containerId))
          forget(target, "its container is gone");
    },
    async close() {
      await Promise.all([...entries.values()].map(({ box }) => box.close()));
    },
  };
}
