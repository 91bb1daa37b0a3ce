/**
 * Keeps the capture proxy running while a session needs it, and tells it which
 * sessions it serves. What is needed follows from the records alone: a session
 * whose agent was told of the proxy, and lives. So a daemon that is started
 * later takes up the proxy that runs, or starts it again on the same port, and
 * registers what is missing. It is ended when nobody needs it; a daemon that
 * stops leaves it to the sessions that do.
 */
import { isDeepStrictEqual } from "node:util";
import type { Agent } from "../../agent/contract.ts";
import { type Observation, routeAddress } from "../../capture/proxy/contract.ts";
import type { ProxyControl } from "../../capture/proxy/control-client.ts";
import { RAW_LOG_NAME } from "../../capture/raw-log.ts";
import type { Clock } from "../../platform/clock.ts";
import { parseFields } from "../../platform/json-fields.ts";
import type { Log } from "../../platform/log.ts";
import { isAlive, readProcess } from "../../platform/process-table.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { Passage } from "../../runtime/passage.ts";
import type { LimitReading } from "../../session/limit.ts";
import type { Reading } from "../../session/reading.ts";
import { isEnded, type Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { Environment } from "../launch/environment.ts";
import { wantsProxy } from "../launch/wants-proxy.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { targetOf } from "../ledger/target.ts";
import type { CaptureGaps } from "./capture-gap.ts";
import type { CaptureRecord } from "./capture-record.ts";
import { createContainerDoors } from "./container-doors.ts";
import { type Inherited, withoutCapture } from "./inherited.ts";
import { connectProxy, type ProxyProgram, type ReachedProxy, startProxy } from "./proxy-process.ts";
import { isProxied, isRecorded, needsProxy, routeOf } from "./proxy-route.ts";

export interface ProxyKeeper {
  /** Under which address an upstream of this session is served; known for sure once `ready` has resolved. */
  address(sessionId: string, upstream: string): string;
  /** Resolves when the proxy runs; at once for a session that needs none. Rejects where it cannot be started. */
  ready(session: Session): Promise<void>;
  /** Resolves when the proxy serves the session, or will as soon as its process can be asked for its environment (null). */
  serve(session: Session, environment: Environment | null): Promise<void>;
  /** How its container reaches the proxy, once `serve` has resolved; null where it has none, or needs none. */
  passage(session: Session): Passage | null;
  /** Its record changed. */
  attend(session: Session): void;
  /** What a session may have of the environment of the one that starts it. */
  withoutCapture(environment: Inherited): Inherited;
  /** Takes up what the last daemon left. */
  start(): void;
  close(): Promise<void>;
}

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 10_000;
/** The next session may follow soon, and a proxy takes a moment to start. */
const IDLE_MS = 5_000;
/** What it has recorded must be on the disk before it ends; longer, and it hangs. */
const LONGEST_END_MS = 5_000;

export function createProxyKeeper(parts: {
  readonly store: Pick<Store, "registry">;
  readonly agent: (name: string) => Agent;
  readonly runtime: (kind: string) => Pick<Runtime, "environmentOf">;
  readonly attention: {
    /** The values that must not be recorded; null where they are not known. */
    secretValues(sessionId: string): Promise<readonly string[] | null>;
    /** Takes what headers said of limits. */
    take(session: Session, reading: Reading): Promise<void>;
  };
  readonly record: CaptureRecord;
  readonly outputsRoot: string;
  readonly program: ProxyProgram;
  /** Holds a directory for each container that reaches the proxy. */
  readonly doorsDir: string;
  /** The daemon's: how this machine reaches the world, where the environment of a session does not tell. */
  readonly ownEnvironment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** What is recorded of a session cannot be written (`why`), or can again (null). */
  readonly onKept: (sessionId: string, what: string, why: string | null, missing?: number) => void;
  readonly gaps: CaptureGaps;
}): ProxyKeeper {
  const { record, program, clock, scheduler, log, attention } = parts;
  const { registry } = parts.store;
  let reached: ReachedProxy | null = null;
  let reaching: Promise<ReachedProxy> | null = null;
  /** Sessions that it serves, as far as this daemon knows. */
  const served = new Set<string>();
  /** Of sessions that were started since the daemon was: a process that is yet to start cannot be asked. */
  const environments = new Map<string, Environment>();
  /** What headers said last. */
  const limits = new Map<string, readonly LimitReading[]>();
  const doors = createContainerDoors(parts.doorsDir, record.doorName);
  let retryMs = FIRST_RETRY_MS;
  let reachedAt = 0;
  let isStarted = false;
  let isClosed = false;
  let tellingGaps: Promise<void> = Promise.resolve();

  const needed = (): readonly Session[] => registry.living().filter(needsProxy);

  function reach(): Promise<ReachedProxy> {
    if (reached !== null) return Promise.resolve(reached);
    reaching ??= (async () => {
      const found = (await connectRunning()) ?? (await startProxy(program, record.port(), observe));
      if (record.port() !== found.status.port) record.setPort(found.status.port);
      reached = found;
      reachedAt = clock.monotonic();
      served.clear();
      await takeUp(found);
      void found.control.closed.then(() => lost(found.control));
      return found;
    })().finally(() => (reaching = null));
    return reaching;
  }

  /** Where none runs, the last one may have been killed. */
  async function connectRunning(): Promise<ReachedProxy | null> {
    const found = await connectProxy(program, observe);
    if (found === null) await tellGaps();
    return found;
  }

  /** One after the other: each looks for what was told before. */
  function tellGaps(): Promise<void> {
    tellingGaps = tellingGaps.then(async () => {
      for (const session of registry.all().filter((one) => isProxied(one) && isRecorded(one)))
        await parts.gaps.tell(session).catch(report("what the capture proxy lost could not be told"));
    });
    return tellingGaps;
  }

  /** What it serves of what is needed is left as it is: it knows the secrets, which a process may no longer tell. */
  async function takeUp({ control, status }: ReachedProxy): Promise<void> {
    const wanted = new Map(needed().map((session) => [record.routeKey(session.id), session.id]));
    for (const { key } of status.routes) {
      const sessionId = wanted.get(key);
      if (sessionId !== undefined) served.add(sessionId);
      else await control.unregister(key).catch(report("a route of the capture proxy could not be removed"));
    }
  }

  function lost(control: ProxyControl): void {
    if (reached?.control !== control) return;
    reached = null;
    served.clear();
    if (isClosed) return;
    log("the capture proxy is gone", { needed: needed().length });
    if (needed().length === 0) void tellGaps();
    if (clock.monotonic() - reachedAt > LONGEST_RETRY_MS) retryMs = FIRST_RETRY_MS;
    if (retryMs === FIRST_RETRY_MS) keep();
    again();
  }

  /** Brings what it serves in line with what is needed; tries again where that fails. */
  function keep(): void {
    if (isClosed || !isStarted) return;
    const sessions = needed();
    if (sessions.length === 0) return endSoon();
    scheduler.cancel(null, "capture-idle");
    reach()
      .then(() => Promise.all(sessions.filter(isUnserved).map((session) => register(session))))
      .catch((error: unknown) => {
        log("the capture proxy could not be reached, trying again", { why: messageOf(error) });
        again();
      });
  }

  /** One that is about to be created is registered by whoever creates it. */
  function isUnserved({ id, process }: Session): boolean {
    return process.place !== null && !served.has(id);
  }

  function again(): void {
    scheduler.atMost(null, "capture-proxy", retryMs, keep);
    retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
  }

  /** Nothing is recorded of a session whose secrets are not known: it is tried again, while its process may tell. */
  async function register(session: Session): Promise<void> {
    const { identity, process } = session;
    const environment =
      environments.get(session.id) ??
      // A container was not given what of the user's environment is about networks.
      (identity.launch.container === null
        ? await parts.runtime(identity.runtime).environmentOf(targetOf(session), process.place)
        : withValues(parts.ownEnvironment));
    const secrets = isRecorded(session) ? await attention.secretValues(session.id) : [];
    if (environment === null || secrets === null) return again();
    const { control } = await reach();
    const key = record.routeKey(session.id);
    const route = routeOf(session, parts.agent(identity.agent), {
      environment,
      secrets,
      key,
      tagKey: record.tagKey(),
      door: doors.path(session),
    });
    await control.register(route);
    served.add(session.id);
    retryMs = FIRST_RETRY_MS;
  }

  function endSoon(): void {
    if (reached === null && reaching === null) return;
    scheduler.atMost(null, "capture-idle", IDLE_MS, () => {
      if (needed().length === 0) end().catch(report("the capture proxy could not be ended"));
    });
  }

  async function end(): Promise<void> {
    const ending = reached;
    if (ending === null) return;
    reached = null;
    served.clear();
    const { pid } = ending.status;
    const process = readProcess(pid);
    await ending.control.stop();
    await Promise.race([ending.control.closed, clock.sleep(LONGEST_END_MS)]);
    const until = clock.monotonic() + LONGEST_END_MS;
    const isThere = (): boolean => process !== null && isAlive(pid, process.startTicks);
    while (isThere() && clock.monotonic() < until) await clock.sleep(20);
    ending.control.close();
  }

  function observe(observation: Observation): void {
    const session = registry.get(observation.sessionId);
    if (session === undefined) return;
    switch (observation.observed) {
      case "limits": {
        const { headers, status, at } = observation;
        const { readLimitHeaders } = parts.agent(session.identity.agent);
        const said = readLimitHeaders?.(Object.fromEntries(headers), { status, at: Date.parse(at) }) ?? [];
        return hearLimits(session, `headers of a response (${status})`, said);
      }
      case "limit-message": {
        const { readLimitMessage } = parts.agent(session.identity.agent);
        const fields = parseFields(observation.message);
        const said = fields === null ? [] : (readLimitMessage?.(fields, { at: Date.parse(observation.at) }) ?? []);
        return hearLimits(session, "a message of a websocket", said);
      }
      case "cannot-record":
        return parts.onKept(session.id, RAW_LOG_NAME, observation.why);
      case "recording-again":
        return parts.onKept(session.id, RAW_LOG_NAME, null, observation.droppedLines);
      case "upstream-failed":
        return log("a model could not be reached", { session: session.id, why: observation.message });
    }
  }

  function hearLimits(session: Session, detail: string, said: readonly LimitReading[]): void {
    // They come with every answer.
    if (said.length === 0 || isDeepStrictEqual(said.map(withoutTime), limits.get(session.id))) return;
    limits.set(session.id, said.map(withoutTime));
    const reading: Reading = { source: "protocol", detail, limits: said };
    attention.take(session, reading).catch(report("what a response said of limits could not be taken"));
  }

  function forget(session: Session): void {
    limits.delete(session.id);
    if (isEnded(session)) {
      environments.delete(session.id);
      doors.remove(session);
    }
    if (!served.delete(session.id)) return;
    reached?.control
      .unregister(record.routeKey(session.id))
      .catch(report("a route of the capture proxy could not be removed"));
    keep();
  }

  function report(what: string): (error: unknown) => void {
    return (error) => log(what, { why: messageOf(error) });
  }

  return {
    address: (sessionId, upstream) => routeAddress(record.port() ?? 0, record.routeKey(sessionId), upstream),
    async ready({ identity }) {
      if (wantsProxy(identity.launch)) await reach();
    },
    async serve(session, environment) {
      if (!isProxied(session)) return;
      doors.make(session);
      scheduler.cancel(null, "capture-idle");
      if (environment !== null) environments.set(session.id, environment);
      if (environments.has(session.id)) await register(session);
    },
    passage: (session) => (isProxied(session) ? doors.passage(session, record.port() ?? 0) : null),
    attend(session) {
      if (!isStarted) return;
      if (!needsProxy(session)) forget(session);
      else if (session.process.place !== null && !served.has(session.id)) keep();
    },
    withoutCapture: (environment) =>
      withoutCapture(environment, {
        sessions: () => registry.all(),
        routeKey: record.routeKey,
        outputsRoot: parts.outputsRoot,
      }),
    start() {
      isStarted = true;
      doors.keepOnly(registry.living());
      if (needed().length > 0) return keep();
      // One that nobody needs any more may have been left.
      if (record.exists())
        connectRunning()
          .then((found) => {
            reached ??= found;
            endSoon();
          })
          .catch(report("the capture proxy could not be reached"));
    },
    async close() {
      isClosed = true;
      await reaching?.catch(() => undefined);
      await tellingGaps;
      if (needed().length === 0) await end().catch(report("the capture proxy could not be ended"));
      reached?.control.close();
    },
  };
}

function withValues(environment: Inherited): Environment {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function withoutTime({ at: _at, ...limit }: LimitReading): LimitReading {
  return limit;
}
