/**
 * Where a session lives. A runtime knows processes and terminals, nothing of
 * agents, policies or the registry, and no caller knows which one it talks to.
 *
 * Rules every implementation must hold (test/conformance/runtime proves them):
 * - `create` is idempotent per (session id, incarnation).
 * - `absent` and `exited` are proven; whatever could not be asked is `unreachable`. Only the kernel's "no such
 *   process" means gone: a look that failed for want of descriptors, memory or permission proves nothing.
 * - Only what carries this home's mark, or was started by what does, is ever signalled or deleted.
 * - `stop` returns only when nothing of it is left, or says what is; it throws where it cannot look. Its evidence says
 *   how that is known, and what could not be seen.
 * - What can be ended and proven without asking what does not answer, is.
 */
import type { Container } from "../session/container.ts";
import type { InputStep } from "../session/input.ts";
import type { ProcessVitals } from "../session/process-vitals.ts";
import type { NamedProcess, Place, PlaceView } from "../session/session.ts";
import { SESSION_ID_PATTERN } from "../session/session-id.ts";
import type { Passage } from "./passage.ts";
import type { SessionFiles, SessionPrograms } from "./session-files.ts";
import type { Terminal, TerminalEvent, TerminalFollowing } from "./terminal.ts";

/** Which process of which session: the mark is made of it. */
export interface Target {
  readonly sessionId: string;
  /** Counts the processes started for a session; each restart is a new one. */
  readonly incarnation: number;
}

export interface CreateRequest extends Target {
  /** Argument vector; never a shell string. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Complete environment, or null: use what the runtime retained from the last incarnation. */
  readonly environment: Readonly<Record<string, string>> | null;
  /** Variables set on top of `environment`, whichever that is. */
  readonly extraEnvironment: Readonly<Record<string, string>>;
  /** A name for people (window title); never used as a target. */
  readonly label: string;
  /** For runtimes that put each session into a container of its own; others do not look at it. */
  readonly container?: ContainerRequest;
}

/** The container that a session is given. Its directory (`cwd`) is mounted where it is. */
export interface ContainerRequest extends Container {
  /** For the container's labels. */
  readonly role: string;
  /** Further directories and files that it has, each under its own path: the session's directory, a repository. */
  readonly shared: readonly string[];
  /** A port on loopback inside that leads to a socket of this machine; null or missing: none. */
  readonly passage?: Passage | null;
}

export interface Created {
  readonly place: Place;
  /** False when this call found the incarnation already there. */
  readonly isNew: boolean;
}

/** `askedAt`: when the question was asked. The answer says nothing about what was made since. */
interface Answer {
  readonly askedAt: number;
  readonly evidence: string;
}

export type Presence =
  /** `isFrozen`: whether its processes are kept from running as a whole, whoever did that; not there where nobody can tell. */
  | (Answer & { readonly status: "running"; readonly place: Place; readonly isFrozen?: boolean })
  | (Answer & {
      readonly status: "exited";
      readonly code: number | null;
      readonly signal: string | null;
      /** Where the runtime knows more than that: the kernel ended it for want of memory. */
      readonly failure?: "out-of-memory";
    })
  | (Answer & { readonly status: "absent" })
  | (Answer & { readonly status: "unreachable" });

/** Everything on this runtime that carries this home's mark, or why it could not be asked. */
export type Listing =
  | (Answer & { readonly reachable: true; readonly entries: readonly ListingEntry[] })
  | (Answer & { readonly reachable: false });

export interface ListingEntry extends Target {
  readonly presence: Presence;
}

/** How the processes of some sessions are, or why that could not be seen. */
export type Vitals =
  | (Answer & { readonly reachable: true; readonly entries: readonly VitalsEntry[] })
  | (Answer & { readonly reachable: false });

export interface VitalsEntry extends Target {
  /** All of its processes that live; none where it is not there. */
  readonly processes: readonly ProcessVitals[];
}

/** A session where it was last found. */
export interface PlacedTarget {
  readonly target: Target;
  readonly place: Place | null;
}

export interface Screen {
  /** Plain text, escape sequences already stripped; the newest lines are last. */
  readonly text: string;
  /**
   * The same lines without what is drawn faint (placeholders, hints), and with the cursor in its place. Only of the
   * visible screen; with lines from before it, the same as `text`.
   */
  readonly solid: string;
  /** The visible lines with how they are drawn: SGR sequences and no others, which carry on from line to line. Only when asked for. */
  readonly drawn?: string;
  /** What the program calls its terminal. */
  readonly title: string;
  /** Lines above these existed but were not asked for. */
  readonly truncated: boolean;
}

/** The cursor in `Screen.solid`, and one that the program has hidden. */
export const CURSOR = "▮";
export const HIDDEN_CURSOR = "▯";

export interface StopOptions {
  /** Between the polite signal and the firm one. */
  readonly graceMs: number;
  /** Ends the waiting early: the firm signal follows at once. */
  readonly hurry?: AbortSignal;
}

export interface StopReport {
  /** Processes that were signalled, by signal. */
  readonly terminated: number;
  readonly killed: number;
  /** What is still there, for people: empty means proven gone. */
  readonly survivors: readonly string[];
  /** For people, in whole sentences: what was done, and by what it is known that nothing is left. */
  readonly evidence: string;
}

/** What cannot be asked of a runtime is refused before anything is tried. */
export interface RuntimeCapabilities {
  readonly suspend: boolean;
  readonly stream: boolean;
  readonly attach: boolean;
  /** Each session gets a container of its own, which a start says more about. */
  readonly containers: boolean;
}

export interface Runtime {
  readonly kind: string;
  readonly capabilities: RuntimeCapabilities;
  /** With more sessions than this it is listed less often by itself; missing: a hundred. */
  readonly mostAtFullPace?: number;
  /** What lies where its sessions live. */
  readonly files: SessionFiles;
  /** The programs of an image, and where they are looked for (PATH), for runtimes with containers. Throws where it cannot be used. */
  programsIn?(image: string): Promise<SessionPrograms & { readonly path: string }>;
  /** It will be asked soon: what takes time to reach may begin. */
  anticipate?(): void;
  /** Throws what keeps it from starting anything here, with what to do about it; says what it will use. */
  requireReady(): Promise<string>;
  /** The same for a start, with no more questions than that needs; missing: those of `requireReady`. */
  readonly requireStartable?: () => Promise<void>;
  create(request: CreateRequest): Promise<Created>;
  /** What people are shown of a place that this runtime made; nothing is asked for it. */
  describe(place: Place): PlaceView;
  /** Whether an environment from an earlier incarnation is still held, so that `environment: null` works; throws when that cannot be asked. */
  retainsEnvironment(sessionId: string): Promise<boolean>;
  /** What a living process of it was started with; null when that is not known: there is none, or it could not be read. */
  environmentOf(target: Target, place: Place | null): Promise<Readonly<Record<string, string>> | null>;
  /** How it is at some moment between the call and the answer; never an answer to an earlier question. */
  observe(target: Target): Promise<Presence>;
  /** Likewise, however long it takes. What was created meanwhile may or may not be in it. */
  list(): Promise<Listing>;
  /** Those of these sessions that have ended, as far as that is proven while it does not answer; missing: nothing is. */
  endedUnasked?(sessions: readonly PlacedTarget[]): readonly ListingEntry[];
  /** One look at the processes of all these sessions, whose cost does not depend on any others; asks nothing of them. */
  vitals(sessions: readonly PlacedTarget[]): Promise<Vitals>;
  send(target: Target, steps: readonly InputStep[]): Promise<void>;
  /** The newest lines, scrolled-off ones included; with `lines: 0` only what is visible, and with its colours if asked. */
  capture(target: Target, options: { readonly lines: number; readonly style?: "ansi" }): Promise<Screen>;
  /** Another label, for whoever is attached, too. One whose process ended gets it with the next. */
  relabel(target: Target, label: string): Promise<void>;
  /** When a person last pressed a key in it, at the latest (last-key.ts); null when nobody is attached. */
  lastTypedAt(target: Target): Promise<number | null>;
  /** Whether that very process lives and belongs to this incarnation; throws where that cannot be read. */
  owns(target: Target, process: NamedProcess): Promise<boolean>;
  /** Whether that very process lives where sessions of this runtime do, whosever it is; throws likewise. */
  lives(process: NamedProcess): Promise<boolean>;
  /** Paths of the files its processes hold open; empty when there is none to ask. Throws where that cannot be read. */
  openFiles(target: Target, place: Place | null): Promise<readonly string[]>;
  /** Raw terminal output from now on; returns how to stop listening. */
  stream(target: Target, listener: (bytes: Buffer) => void): () => void;
  /**
   * The same with its size, for a recording: may begin before its process does. Where output may be missing, a snapshot
   * comes without being asked for.
   */
  follow(target: Target, listener: (event: TerminalEvent) => void): TerminalFollowing;
  /** A view of its terminal, beside any number of others. Rejects where it does not run. */
  openTerminal(target: Target): Promise<Terminal>;
  suspend(target: Target): Promise<string>;
  release(target: Target): Promise<string>;
  /** Ends the process tree and proves it; the place stays, with its last screen and environment. */
  stop(target: Target, options: StopOptions): Promise<StopReport>;
  /** Removes the place. Never called while something in it runs. */
  destroy(target: Target): Promise<void>;
  /** Processes of this home's mark whose (session, incarnation) is not in `live`. Throws where that cannot be read. */
  findStrays(live: (target: Target) => boolean): Promise<readonly Stray[]>;
  /** How far `stop` proves that nothing of a session is left here. */
  endProof(): Promise<EndProof>;
  /** Called when something may have changed; a hint to observe, never a fact. */
  onChange(listener: (target: Target | null) => void): () => void;
  attachCommand(target: Target, taken: TakenKeys, options?: AttachOptions): Promise<AttachCommand>;
  /** Tells everybody who is attached to one of its sessions; says how many they are. Not there where nobody can attach. */
  notify?(notice: AttachedNotice): Promise<number>;
  /** Runs a program of Reeve's beside a session: where that lives, as its user. What it printed, complaints included; rejects where nothing can be run. */
  runBeside?(target: Target, run: BesideRun): Promise<string>;
  /** Ends what it keeps running for all sessions, such as a server. Throws if something still lives in it, or if that is not known. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

export interface BesideRun {
  /** The file of a program for Node without imports; the session need not see it. */
  readonly program: string;
  /** What stands before it, such as the command of an agent's sandbox. */
  readonly within: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What it reads, a line. */
  readonly input: string;
  readonly timeoutMs: number;
}

export interface EndProof {
  /** False: a process that hides could outlive its session unseen. */
  readonly isWhole: boolean;
  /** For people, in whole sentences. */
  readonly text: string;
}

/** A line of plain text, or the bell. */
export type AttachedNotice = { readonly text: string } | { readonly bell: true };

export interface AttachOptions {
  /** Nothing that is typed reaches the session. */
  readonly isReadOnly?: boolean;
}

/** Keys that the person's own terminal keeps for itself, each with what to press to pass it on; null where nothing does. */
export type TakenKeys = Readonly<Record<string, string | null>>;

export interface AttachCommand {
  /** What a person's terminal runs to be in the session. */
  readonly argv: readonly string[];
  /** The keys that leave it running, in that terminal; null where none would arrive. */
  readonly detach: string | null;
}

export interface Stray extends Target {
  /** For people: which process, and what it runs. */
  readonly what: string;
}

/** The name of the environment variable that every process of a session carries. */
export const MARK_VARIABLE = "REEVE_MARK";

/** `<home instance>.<session id>.<incarnation>`; none of the parts may contain a dot. */
export function formatMark(instance: string, target: Target): string {
  return `${instance}.${target.sessionId}.${target.incarnation}`;
}

export function parseMark(instance: string, mark: string): Target | null {
  const [owner, sessionId, incarnation, ...rest] = mark.split(".");
  if (owner !== instance || sessionId === undefined || incarnation === undefined || rest.length > 0) return null;
  if (!SESSION_ID_PATTERN.test(sessionId) || !/^[1-9][0-9]{0,8}$/.test(incarnation)) return null;
  return { sessionId, incarnation: Number(incarnation) };
}
