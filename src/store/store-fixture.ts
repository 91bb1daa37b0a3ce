/**
 * For tests only: a home in a temporary directory, sessions to put into it, and
 * stores that are closed with it.
 */
import { amend, type Amendment } from "../session/amend.ts";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Moment, systemClock } from "../platform/clock.ts";
import type { Message } from "../session/message.ts";
import { defineKind, type Kept } from "../session/record-kind.ts";
import { SECTIONS, type Session } from "../session/session.ts";
import { begin } from "../session/shape.ts";
import { openStore, type OpenStore } from "./open-store.ts";
import type { StoreOptions } from "./options.ts";

export interface TestHome extends StoreOptions {
  readonly directory: string;
  /** What the store logged. */
  readonly logged: { readonly message: string; readonly fields: object | undefined }[];
  open(overrides?: Partial<StoreOptions>): Promise<OpenStore>;
  /** Every store that is still open. */
  close(): Promise<void>;
  remove(): Promise<void>;
}

export function makeHome(directory = mkdtempSync(join(tmpdir(), "reeve-store-"))): TestHome {
  mkdirSync(join(directory, "state"), { recursive: true, mode: 0o700 });
  const logged: TestHome["logged"] = [];
  const stores: OpenStore[] = [];
  const options: StoreOptions = {
    databasePath: join(directory, "state", "reeve.db"),
    outputsRoot: join(directory, "outputs"),
    instancePath: join(directory, "state", "instance"),
    clock: systemClock,
    log: (message, fields) => void logged.push({ message, fields }),
    reserveBytes: 0,
  };
  return {
    ...options,
    directory,
    logged,
    open: async (overrides = {}) => {
      const store = await openStore({ ...options, ...overrides });
      stores.push(store);
      return store;
    },
    close: async () => {
      for (const store of stores) await store.close();
    },
    remove: async () => {
      for (const store of stores) await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function makeSession(home: { readonly outputsRoot: string }, id: string, changes: Amendment = {}): Session {
  const evidence = { source: "operator", detail: "test", at: 1_700_000_000_000 } as const;
  const role = changes.identity?.role ?? "worker";
  const session: Session = {
    id,
    revision: 1,
    state: "planned",
    reason: { code: "asked", text: "Somebody asked.", evidence },
    identity: {
      name: `name-${id}`,
      role,
      agent: "command",
      hasTurns: true,
      runtime: "tmux",
      launch: {
        args: ["sh", "-c", "echo \u00e9\u{1f600}"],
        prompt: null,
        model: null,
        cwd: "/work",
        envFile: null,
        envNames: ["TOKEN"],
        keyFiles: {},
        persistence: null,
        container: null,
        mcp: true,
        paths: { HOME: "/home/user" },
      },
      restartPolicy: "on-failure",
      parentId: null,
      notify: [],
      outputsDir: join(home.outputsRoot, "agents", role, id),
      branch: null,
      startedBy: "operator",
      manifest: null,
      pooled: false,
      createdAt: 1_700_000_000_000,
    },
    wish: begin(SECTIONS.wish, {}),
    process: begin(SECTIONS.process, { incarnation: 0, liveness: { status: "absent", evidence } }),
    conversation: begin(SECTIONS.conversation, {
      nativeId: null,
      activity: { status: "unknown", asks: null, evidence },
    }),
    watch: begin(SECTIONS.watch, {
      mode: "process",
      text: "Only its process can be seen.",
      version: null,
      socket: null,
      statusDir: null,
      capture: null,
      observability: { status: "pending", expected: true, reason: "not started", transcriptPath: null },
    }),
    notice: begin(SECTIONS.notice, {}),
    wakes: begin(SECTIONS.wakes, {}),
    checkout: begin(SECTIONS.checkout, {}),
    quota: begin(SECTIONS.quota, {}),
    timeouts: begin(SECTIONS.timeouts, {}),
  };
  return amend(session, changes);
}

/** Of a session of this fixture that was taken from its state.json: as it was before, less that it is barred. */
export function unbarred(session: Session): Session {
  if (session.wish.held === null) return session;
  const { reason, state } = makeSession({ outputsRoot: "/" }, session.id);
  return amend(session, { reason, state, wish: { held: null } });
}

/** As versions before schema 8 wrote it: without sections, and the plan of the watch in a field of its own. */
export function flat(session: Session) {
  const { identity, wish, process, conversation, watch, ...top } = session;
  const { observability, transcriptCursor, ...plan } = watch;
  return { ...top, ...identity, ...wish, ...process, ...conversation, watch: plan, observability, transcriptCursor };
}
export type FlatSession = ReturnType<typeof flat>;

export function nextRevision(session: Session, changes: Amendment = {}): Session {
  return amend(session, { ...changes, revision: session.revision + 1 });
}

export function makeMessage(sessionId: string, id: string, changes: Partial<Message> = {}): Omit<Message, "position"> {
  return {
    id,
    sessionId,
    text: "hello",
    submit: true,
    how: "queue",
    caller: "operator",
    intendedTurn: null,
    answers: null,
    state: "admitted",
    admittedAt: 1_700_000_000_000,
    settled: null,
    detail: null,
    ...changes,
  };
}

/** Where no clock is needed. */
export function momentAt(at: number): Moment {
  return { at, boot: "test", upMs: at };
}

/** A kind of record that only tests have. */
export const countKind = defineKind<Kept>({ name: "count", parse: (value) => value as Kept });

export const STARTED = { type: "daemon-started", pid: 1, version: "0.1.0", sessions: 0 } as const;
