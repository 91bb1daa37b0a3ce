/**
 * The registered routes: which key leads to which upstreams, and where what
 * passes is recorded. One file has one writer, however many routes a session
 * has had.
 */
import type { Clock } from "../../platform/clock.ts";
import { parseFields, textIn } from "../../platform/json-fields.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { ReadUsage } from "../../session/model-call.ts";
import type { CopyQueue } from "../copy-queue.ts";
import { type ExchangeRecord, recordExchange, recordNothing } from "../exchange-recorder.ts";
import { markOpen, removeMark } from "../open-mark.ts";
import { openRawLog, type RawLog, RAW_LOG_NAME } from "../raw-log.ts";
import { createTrafficRedaction } from "../traffic-redaction.ts";
import type { Observation, Route, RouteStatus } from "./contract.ts";
import type { Refusal } from "./refusal.ts";
import { isRouteKey } from "./route-key.ts";
import { forgetAuthorities, type Upstream, upstreamOf } from "./upstream.ts";

export interface OpenRoute {
  readonly route: Route;
  upstream(name: string): Upstream | undefined;
  /** Counts as under way until `end` was called. */
  begin(): ExchangeRecord;
}

export interface Routes {
  /** Null: nothing is wrong with it. */
  register(route: Route): Refusal | null;
  unregister(key: string): void;
  find(key: string): OpenRoute | undefined;
  status(): readonly RouteStatus[];
  /** What is under way, of all routes. */
  readonly open: number;
  /** Told again to whoever connects. */
  outages(): readonly Observation[];
  /** Writes what was recorded, after it ended what is still under way. */
  close(): Promise<void>;
}

export type Observe = (observation: Observation) => void;

interface Entry extends OpenRoute {
  /** Null: nothing is recorded. */
  readonly log: SharedLog | null;
  open: number;
  exchanges: number;
}

interface SharedLog {
  readonly log: RawLog;
  readonly directory: string;
  readonly sessionId: string;
  readonly path: string;
  /** Routes, and exchanges under way. */
  users: number;
}

export function createRoutes(parts: {
  readonly readUsage: ReadUsage;
  readonly clock: Clock;
  readonly queue: CopyQueue;
  readonly observe: Observe;
}): Routes {
  const entries = new Map<string, Entry>();
  const logs = new Map<string, SharedLog>();
  const closing = new Set<Promise<void>>();
  const records = new Set<ExchangeRecord>();

  function shareLog({ directory, sessionId, capBytes }: Route): SharedLog | null {
    if (directory === null) return null;
    const found = logs.get(directory);
    if (found !== undefined) {
      found.users += 1;
      return found;
    }
    const path = `${directory}/${RAW_LOG_NAME}`;
    const at = (): string => new Date(parts.clock.now()).toISOString();
    const log = openRawLog({
      directory,
      capBytes,
      captured: "proxy",
      clock: parts.clock,
      told: {
        failed: (why) => parts.observe({ observed: "cannot-record", sessionId, at: at(), path, why }),
        resumed(droppedLines) {
          markOpen(directory);
          parts.observe({ observed: "recording-again", sessionId, at: at(), path, droppedLines });
        },
      },
    });
    markOpen(directory);
    const shared = { log, directory, sessionId, path, users: 1 };
    logs.set(directory, shared);
    return shared;
  }

  function leave(shared: SharedLog | null): void {
    if (shared === null) return;
    const { directory } = shared;
    shared.users -= 1;
    if (shared.users > 0) return;
    logs.delete(directory);
    const closed: Promise<void> = shared.log.close().finally(() => {
      closing.delete(closed);
      // Another route of the session may have opened it again.
      if (shared.log.waiting === 0 && !logs.has(directory)) removeMark(directory);
    });
    closing.add(closed);
  }

  function makeEntry(route: Route): Entry {
    const upstreams = new Map(
      Object.entries(route.upstreams).map(([name, base]) => [name, upstreamOf(name, base, route.network)]),
    );
    const redaction = createTrafficRedaction([...route.secrets, route.key, ...passwordsIn(upstreams)], route.tagKey);
    const log = shareLog(route);
    const recordIn = (shared: SharedLog): ExchangeRecord => {
      shared.users += 1;
      return recordExchange({
        ...parts,
        log: shared.log,
        redaction,
        onMessage: (exchange, message) => {
          if (!isOfType(message, route.limitMessages ?? [])) return;
          const at = new Date(parts.clock.now()).toISOString();
          parts.observe({ observed: "limit-message", sessionId: route.sessionId, at, exchange, message });
        },
        onWritten: () => leave(shared),
      });
    };
    const entry: Entry = {
      route,
      log,
      open: 0,
      exchanges: 0,
      upstream: (name) => upstreams.get(name),
      begin() {
        entry.open += 1;
        entry.exchanges += 1;
        const record = log === null ? recordNothing() : recordIn(log);
        const tracked: ExchangeRecord = {
          ...record,
          end(outcome, error) {
            if (!records.delete(tracked)) return;
            entry.open -= 1;
            record.end(outcome, error);
          },
        };
        records.add(tracked);
        return tracked;
      },
    };
    return entry;
  }

  function drop(entry: Entry): void {
    entries.delete(entry.route.key);
    leave(entry.log);
  }

  return {
    register(route) {
      const wrong = mistakeIn(route);
      if (wrong !== null) return { status: 400, code: "route-invalid", message: wrong };
      forgetAuthorities();
      const before = entries.get(route.key);
      entries.set(route.key, makeEntry(route));
      if (before !== undefined) leave(before.log);
      return null;
    },
    unregister(key) {
      const entry = entries.get(key);
      if (entry !== undefined) drop(entry);
    },
    find: (key) => entries.get(key),
    status: () =>
      [...entries.values()].map(({ route, log, open, exchanges }) => ({
        key: route.key,
        sessionId: route.sessionId,
        open,
        exchanges,
        droppedLines: log?.log.droppedLines ?? 0,
        outage: log?.log.outage ?? null,
      })),
    get open() {
      return records.size;
    },
    outages: () =>
      [...logs.values()].flatMap(({ log, sessionId, path }) =>
        log.outage === null
          ? []
          : [
              {
                observed: "cannot-record" as const,
                sessionId,
                at: new Date(parts.clock.now()).toISOString(),
                path,
                why: log.outage,
              },
            ],
      ),
    async close() {
      for (const record of records) record.end("proxy-stopped", "The capture proxy was stopped.");
      for (const entry of entries.values()) drop(entry);
      // Each exchange leaves its log when its last line is written.
      while (logs.size > 0 || closing.size > 0) {
        await Promise.all(closing);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

/** Those that tell of limits are short; the others are not even parsed. */
const LONGEST_LIMIT_MESSAGE = 65_536;

function isOfType(message: string, types: readonly string[]): boolean {
  if (message.length > LONGEST_LIMIT_MESSAGE || !types.some((type) => message.includes(`"${type}"`))) return false;
  return types.includes(textIn(parseFields(message), "type") ?? "");
}

function passwordsIn(upstreams: ReadonlyMap<string, Upstream>): readonly string[] {
  return [...upstreams.values()]
    .flatMap(({ url, proxy }) => [url.password, proxy?.password ?? ""])
    .filter((password) => password !== "")
    .map((password) => decodeURIComponent(password));
}

function mistakeIn(route: Route): string | null {
  if (!isRouteKey(route.key)) return "The key of a route is 32 random bytes as base64url.";
  for (const path of [route.directory, route.door])
    if (typeof path === "string" && !path.startsWith("/")) return `${path} is not an absolute path.`;
  if (!(route.capBytes > 0)) return `${route.capBytes} is no size for a log.`;
  for (const [name, base] of Object.entries(route.upstreams)) {
    if (!/^[a-z0-9][a-z0-9-]*$/.test(name))
      return `${name} is no name for an upstream: use small letters, digits, "-".`;
    const url = URL.parse(base);
    if (url === null || !/^https?:$/.test(url.protocol)) return `${base} is not an http or https URL.`;
    if (url.search !== "" || url.hash !== "") return `${base} has a query or fragment, which a base URL cannot have.`;
    try {
      upstreamOf(name, base, route.network);
    } catch (error) {
      return `The proxy for ${base} is not a URL (${messageOf(error)}).`;
    }
  }
  return null;
}
