/**
 * One incarnation of a session in a box of its own, driven over a transport:
 * its pane, its processes and the environment that the next incarnation may
 * want. It knows tmux and /proc, and nothing of what the box is made of; whether
 * the box is there, frozen or gone is told by the runtime that made it.
 */
import type { Clock } from "../../platform/clock.ts";
import { parseFields } from "../../platform/json-fields.ts";
import {
  type AttachedNotice,
  type BesideRun,
  type CreateRequest,
  formatMark,
  type StopOptions,
  type StopReport,
  type Target,
} from "../contract.ts";
import type { ProcessVitals } from "../../session/process-vitals.ts";
import type { NamedProcess } from "../../session/session.ts";
import { notifyAttached } from "../driver/attached-people.ts";
import type { ChangeHints } from "../driver/change-hints.ts";
import { unreachable, type Answer, type ControlCommand } from "../driver/control-connection.ts";
import { newSessionCommands, parsePlaced } from "../driver/create-pane.ts";
import { createOutputStreams } from "../driver/output-streams.ts";
import type { Connected, Finding } from "../driver/pane-directory.ts";
import { createPaneDriver, type PaneDriver } from "../driver/pane-driver.ts";
import { notPlaced } from "../driver/create-pane.ts";
import { quote } from "../driver/quote.ts";
import { ANCHOR } from "../driver/server-config.ts";
import type { Reach } from "../driver/reach.ts";
import { saysLineMode } from "../driver/type-input.ts";
import { createWindowLinks } from "../driver/window-links.ts";
import { WRAPPER_SCRIPT } from "../driver/wrapper-script.ts";
import type { Transport } from "../transport.ts";
import { runInBox } from "./beside-in-box.ts";
import { type BoxSighting, createBoxDirectory } from "./box-directory.ts";
import { CARRIER_OPTION } from "./box-config.ts";
import { createBoxLink } from "./box-link.ts";
import {
  type BoxProcesses,
  commandIn,
  environmentIn,
  livesInside,
  lookAtProcesses,
  openFilesIn,
  vitalsOf,
} from "./box-processes.ts";
import { createBoxShell } from "./box-shell.ts";
import { stopBox } from "./stop-box.ts";

export type Environment = Readonly<Record<string, string>>;

export interface Box extends Omit<PaneDriver, "notified" | "renew" | "close"> {
  /** Its pane, if it has one; or that its tmux cannot be asked. */
  find(): Promise<Finding<BoxSighting>>;
  reach(): Promise<Reach>;
  /** A control client that the box itself begins with: the next connection is made over it. */
  offer(transport: Transport): void;
  /** The environment that it was given, for the next incarnation; null where it was given none yet. */
  environment(): Promise<Environment | null>;
  keepEnvironment(environment: Environment): Promise<void>;
  /** Starts the session's program. The caller made sure that it does not run yet. */
  begin(request: CreateRequest, environment: Environment): Promise<void>;
  /** What lives in it beside Reeve's own. */
  processes(): Promise<BoxProcesses>;
  vitals(): Promise<readonly ProcessVitals[]>;
  /** What the session's program was started with; null where it does not run. */
  startedWith(): Promise<Environment | null>;
  openFiles(): Promise<readonly string[]>;
  lives(process: NamedProcess, mark?: string): Promise<boolean>;
  /** For people: what lives in it, by its command line. */
  commands(): Promise<readonly string[]>;
  /** Tells whoever is attached; says how many they are. */
  notify(notice: AttachedNotice): Promise<number>;
  /** Runs a program of Reeve's in it. */
  runBeside(run: BesideRun): Promise<string>;
  /** What shell code prints inside. */
  ask(code: string): Promise<Buffer>;
  stop(options: StopOptions): Promise<StopReport>;
  /** It was stopped and proven empty: what runs in it now, its own tmux server has begun on the session's order. */
  hasEnded(): boolean;
  /** It is gone: whoever looks at it is told so. */
  drop(why: string): void;
  close(): Promise<void>;
}

/** Server option: the environment as base64 of a JSON object, one line whatever it holds. In memory only. */
const ENVIRONMENT_OPTION = "@reeve-environment";

export interface BoxParts {
  readonly instance: string;
  readonly target: Target;
  readonly transport: () => Promise<Transport>;
  readonly hints: ChangeHints;
  readonly clock: Clock;
  readonly log: (message: string, fields?: object) => void;
}

export function createBox(parts: BoxParts): Box {
  const { instance, target, hints, clock, log } = parts;
  const mark = formatMark(instance, target);
  const streams = createOutputStreams(() => {
    if (streams.paneOf(mark) !== undefined) links.refresh(mark);
  }, log);
  const link = createBoxLink({
    transport: parts.transport,
    clock,
    log,
    onOutput: streams.deliver,
    onNotification: (name, rest) => driver.notified(name, rest),
    onConnected: () => {
      driver.renew(null);
      links.refreshAll();
    },
    onLost: (reason) => {
      log("the connection into a container was lost", { ...target, reason });
      hints.tell(target);
    },
  });
  const { reach } = link;
  const shell = createBoxShell(parts.transport, clock);
  const directory = createBoxDirectory({ instance, target, reach, streams });
  const links = createWindowLinks(streams, directory.all, log);
  const isLineMode = async (tty: string): Promise<boolean> =>
    /^\/dev\/[a-z0-9/]+$/.test(tty) && saysLineMode((await shell.ask(`stty -F ${tty} -a`)).toString("utf8"));
  let hasEnded = false;
  const driver = createPaneDriver({
    instance,
    directory,
    streams,
    hints,
    reach,
    stagingDir: null,
    isLineMode,
    clock,
    log,
  });

  const connected = async (): Promise<Connected> => {
    const reached = await reach();
    if (reached.status !== "connected") throw unreachable(reached.evidence);
    return reached;
  };

  const request = async (...commands: readonly ControlCommand[]): Promise<Answer> =>
    (await connected()).connection.request(commands);

  const processes = async (): Promise<BoxProcesses> => {
    const { server } = await connected();
    const { sightings } = await directory.all();
    const format = quote("anchor #{pane_pid}");
    const { replies } = await request(
      { text: `display-message -p ${quote("client #{client_pid}")}` },
      { text: `list-panes -t ${quote(`=${ANCHOR}:`)} -F ${format}` },
      { text: `show-options -sqv ${CARRIER_OPTION}` },
    );
    const clientPid = Number(/^client (\d+)$/.exec(replies[0]?.lines[0] ?? "")?.[1] ?? 0);
    const anchors = (replies[1]?.lines ?? []).map((line) => Number(/^anchor (\d+)$/.exec(line)?.[1] ?? 0));
    const wrapperPid = sightings[0]?.pane.pid ?? null;
    // A window that is watched is linked into the anchor: its pane is listed there as well.
    const anchorPid = anchors.find((pid) => pid !== wrapperPid) ?? 0;
    const carrierPid = Number(/^\d+$/.exec(replies[2]?.lines[0] ?? "")?.[0] ?? 0) || null;
    return lookAtProcesses(shell, { serverPid: server.pid, clientPid, anchorPid, wrapperPid, carrierPid });
  };

  /** tmux learns of an end a moment later, and can miss one: whoever looks next must not see the past. */
  const untilTold = async (): Promise<void> => {
    const endsAt = clock.monotonic() + 1_000;
    while (clock.monotonic() < endsAt) {
      const { reach: reached, sightings } = await directory.all();
      if (reached.status !== "connected" || sightings[0]?.presence.status !== "running") return;
      await shell.ask(`kill -CHLD ${reached.server.pid}`);
      await clock.sleep(10);
    }
  };

  return {
    send: driver.send,
    capture: driver.capture,
    relabel: driver.relabel,
    lastTypedAt: driver.lastTypedAt,
    stream: driver.stream,
    follow: driver.follow,
    openTerminal: driver.openTerminal,
    find: directory.all,
    reach,
    offer: link.offer,
    processes,
    async environment() {
      const { replies } = await request({ text: `show-options -sqv ${ENVIRONMENT_OPTION}` });
      return decodeEnvironment(replies[0]?.lines[0] ?? "");
    },
    async keepEnvironment(environment) {
      const encoded = Buffer.from(JSON.stringify(environment)).toString("base64");
      const { error } = await request({ text: `set-option -s ${ENVIRONMENT_OPTION} ${quote(encoded)}` });
      if (error !== null) throw notPlaced(error);
    },
    async begin(asked, environment) {
      const plan = { request: asked, mark, cgroup: null, shell: SHELL, isStreamed: streams.isWanted(mark) };
      const { connection } = await connected();
      const assign = (answer: Answer): void => {
        const placed = parsePlaced(answer);
        if (placed !== null) streams.assign(placed.paneId, placed.windowId, mark);
      };
      const answer = await connection.request(newSessionCommands(plan, target.sessionId, environment), assign);
      if (parsePlaced(answer) === null) throw notPlaced(answer.error ?? "tmux did not say where it put the process");
    },
    vitals: async () => (await processes()).members.map(vitalsOf),
    async startedWith() {
      const { members, wrapper } = await processes();
      const program = members.find(({ ppid }) => ppid === wrapper?.pid);
      return program === undefined ? null : environmentIn(shell, program.pid);
    },
    openFiles: async () => openFilesIn(shell, (await processes()).members),
    lives: (process, wanted) => livesInside(shell, process, wanted),
    async commands() {
      const { members } = await processes();
      return Promise.all(members.map(async ({ pid }) => `process ${pid} (${await commandIn(shell, pid)})`));
    },
    notify: (notice) =>
      notifyAttached(reach, notice, (terminal) => {
        shell.ask(`printf '\\a' >${terminal}`).catch(() => undefined); // nobody is there to hear it
      }),
    async runBeside(run) {
      return await runInBox(run, await parts.transport(), clock);
    },
    ask: shell.ask,
    async stop(options) {
      const report = await stopBox({ shell, look: processes, clock }, options);
      if (report.survivors.length > 0) return report;
      hasEnded = true;
      await untilTold();
      return report;
    },
    hasEnded: () => hasEnded,
    drop(why) {
      link.drop(why);
      shell.close();
      hints.tell(target);
      driver.close();
    },
    async close() {
      driver.close();
      shell.close();
      await link.close();
    },
  };
}

/** Null also for what is none: the session can write to its own tmux server. */
function decodeEnvironment(encoded: string): Environment | null {
  const fields = parseFields(Buffer.from(encoded, "base64").toString("utf8"));
  if (fields === null || !Object.values(fields).every((value) => typeof value === "string")) return null;
  return fields as Environment;
}

/** No file of the wrapper's is needed inside. */
const SHELL = ["/bin/sh", "-c", WRAPPER_SCRIPT, "reeve"] as const;
