/**
 * Opens the store and puts its parts together: repairs what must be repaired
 * before anything is read, and does the rest in the background.
 */
import type { Clock } from "../platform/clock.ts";
import { messageOf } from "../platform/reeve-error.ts";
import type { EventBody } from "../session/event.ts";
import { CommitQueue } from "./commit-queue.ts";
import { bytesOf, compact } from "./compaction.ts";
import type { Store } from "./contract.ts";
import { fillTypes } from "./event-columns.ts";
import { resolveInstance } from "./instance.ts";
import { tryWriteHeadFile } from "./head-file.ts";
import { findDamage } from "./integrity-check.ts";
import { type Left, OpenMarker } from "./open-marker.ts";
import type { StoreOptions } from "./options.ts";
import { doubtMessages, seenBeyond } from "./put-back.ts";
import { openDatabase, type Opened, restoreRows } from "./recovery.ts";
import { Reserve } from "./reserve.ts";
import { NOTHING_SALVAGED, salvage } from "./salvage.ts";
import { guardRead, isCorruption, MalformedRow, storageError } from "./sqlite.ts";
import { quarantineStateFile, type StateRecord } from "./state-file.ts";
import { scanStateFiles } from "./state-scan.ts";
import { StateWriter } from "./state-writer.ts";
import { Tables } from "./tables.ts";
import { verifyStateFiles } from "./verification.ts";

export interface OpenStore extends Store {
  /** Resolves when every event of an earlier version has its type in a column, or the store is closed. */
  readonly typed: Promise<void>;
}

export async function openStore(options: StoreOptions): Promise<OpenStore> {
  const marker = new OpenMarker(options.databasePath);
  let damaged = false;
  const onFailure = (error: unknown): void => {
    options.log("the store met an error", { why: messageOf(error) });
    if (!isCorruption(error) || damaged) return;
    damaged = true;
    marker.tryWrite("suspect");
  };

  const left = marker.read();
  const reserve = new Reserve(options.databasePath, options.reserveBytes);
  reserve.unpark();
  const opened = openDatabase(options, left, onFailure);
  try {
    const mended = await mend(options, opened, onFailure);
    tryWriteHeadFile(options.databasePath, mended.tables.log.head());
    const { instance, repairs } = resolveInstance(mended.tables.db, options);
    marker.tryWrite("open");
    const fill = (pause: () => Promise<void>): Promise<void> =>
      reserve
        .fill(mended.tables.db, pause)
        .catch((error: unknown) => options.log("the disk has no space to keep in reserve", { why: messageOf(error) }));
    // At once in a new home: the first session may be the one that fills the disk.
    if (opened.isNew) await fill(async () => {});
    return assemble({
      options,
      tables: mended.tables,
      instance,
      repairs: [...mended.repairs, ...repairs],
      left,
      reserve: { fill, park: () => reserve.park(mended.tables.db) },
      onFailure,
      closed: () => damaged || marker.remove(),
    });
  } catch (error) {
    opened.tables.db.close();
    throw storageError(error);
  }
}

interface Parts {
  readonly options: StoreOptions;
  readonly tables: Tables;
  readonly instance: string;
  readonly repairs: readonly EventBody[];
  readonly left: Left;
  readonly reserve: { fill(pause: () => Promise<void>): Promise<void>; park(): void };
  readonly onFailure: (error: unknown) => void;
  readonly closed: () => void;
}

function assemble(parts: Parts): OpenStore {
  const { options, tables, instance, repairs, left, reserve, onFailure } = parts;
  const writer = new StateWriter(options.log);
  const queue = new CommitQueue({
    tables,
    onCorruption: onFailure,
    onSession: (session) => writer.put({ seq: tables.log.head(), session }),
    onRemoved: (sessionId) => writer.forget(sessionId),
  });
  const background = new AbortController();
  // Cut short by a close, which waits for the comparison: no file is overwritten unread.
  const begun = options.clock.sleep(options.verifyAfterMs ?? 0, background.signal).catch(() => undefined);
  let warnings: readonly string[] = [];
  const compared = begun
    .then(() => verifyStateFiles({ store: options, tables, queue, writer }))
    .then((found) => void (warnings = found))
    .catch(onFailure)
    .finally(() => writer.release());
  const checked = begun.then(() =>
    left === "open" ? checkIntegrity(options.databasePath, background.signal, onFailure).catch(onFailure) : undefined,
  );
  const typed = compared
    .then(() => fillTypes(tables.db, pause, background.signal))
    .then((areTyped) => {
      if (areTyped) tables.log.typed();
    })
    .catch(onFailure);
  const reserved = compared.then(() => keepReserve(reserve.fill, options.clock, background.signal));
  let compacting: Promise<number> = Promise.resolve(0);
  let closing: Promise<void> | undefined;

  const close = async (): Promise<void> => {
    background.abort();
    await Promise.all([compared, checked, typed, reserved, compacting]);
    queue.close();
    await writer.idle();
    reserve.park();
    tryWriteHeadFile(options.databasePath, tables.log.head());
    tables.db.close();
    parts.closed();
  };

  return {
    log: tables.log,
    registry: tables.registry,
    mailbox: tables.mailbox,
    records: (kind) => tables.records.of(kind),
    instance,
    repairs,
    retire: async (sessionId) => {
      await writer.retire(sessionId);
      return () => writer.forget(sessionId);
    },
    compact: async () => {
      const work = compact(tables.db, {
        reserveBytes: options.reserveBytes,
        pause: async () => (await pause(), !background.signal.aborted),
      });
      compacting = work.catch(() => 0);
      return await work;
    },
    bytes: () => bytesOf(options.databasePath),
    warnings: () => warnings,
    typed,
    verified: compared.then(() => checked),
    commit: queue.commit,
    idempotency: (key) => guardRead(onFailure, () => tables.idempotency.get(key)),
    close: () => (closing ??= close()),
  };
}

/**
 * What cannot wait: a lost database took all sessions with it, a lost -wal
 * acknowledged commits, and an older copy that was put back never had them. Only
 * then are the files believed, and what comes from them is barred. An empty
 * database that is sound was not lost.
 */
async function mend(
  options: StoreOptions,
  { tables, quarantined, lostWal, isNew }: Opened,
  onFailure: (error: unknown) => void,
): Promise<{ readonly tables: Tables; readonly repairs: readonly EventBody[] }> {
  const seen = isNew || quarantined !== undefined ? null : seenBeyond(options.databasePath, tables);
  if (!isNew && quarantined === undefined && !lostWal && seen === null) return { tables, repairs: [] };
  const { clock, log, outputsRoot } = options;
  const repairs: EventBody[] = [];
  const files: StateRecord[] = [];
  await scanStateFiles(outputsRoot, tables.registry, async (directory, verdict) => {
    if (verdict.kind === "unknown" || verdict.kind === "ahead") files.push(verdict.record);
    if (verdict.kind !== "corrupt") return;
    try {
      repairs.push({
        type: "state-file-quarantined",
        path: await quarantineStateFile(directory, clock.now()),
        why: verdict.why,
      });
    } catch (error) {
      log("a bad state.json could not be set aside", { directory, why: messageOf(error) });
    }
  });
  const head = tables.log.head();
  const saved = quarantined === undefined ? { ...NOTHING_SALVAGED, seq: seen ?? 0 } : salvage(quarantined);
  const taken = restoreRows({
    tables,
    files,
    saved,
    eventsLost: quarantined !== undefined || lostWal || seen !== null,
    now: clock.now(),
  });
  if (seen !== null) {
    log("the database is an older copy that was put back", { head, seen });
    doubtMessages(tables, taken, clock);
    repairs.unshift({ type: "store-put-back", head, highest: seen, sessions: taken.length });
  } else if (taken.length > 0 || quarantined !== undefined) {
    repairs.unshift({
      type: "store-rebuilt",
      from: outputsRoot,
      sessions: taken.length,
      quarantined: quarantined ?? "",
    });
  }
  return { tables: new Tables(tables.db, clock, onFailure), repairs };
}

/** Taken again when there is room, soon after it was used up. */
const RESERVE_INTERVAL_MS = 30_000;

async function keepReserve(
  fill: (pause: () => Promise<void>) => Promise<void>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await fill(pause);
    await clock.sleep(RESERVE_INTERVAL_MS, signal).catch(() => undefined);
  }
}

/** Lets others work in between. */
function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function checkIntegrity(
  databasePath: string,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const damage = await findDamage(databasePath, signal);
  if (damage !== undefined) onFailure(new MalformedRow(damage));
}
