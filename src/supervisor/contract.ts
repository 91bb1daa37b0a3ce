/** What the supervisor is made of, and what operations ask of it. */
import type { Agent } from "../agent/contract.ts";
import type { McpServer } from "../agent/mcp-server.ts";
import type { ApprovalRule } from "../fleet/approval-rule.ts";
import type { Clock } from "../platform/clock.ts";
import type { Death } from "../platform/daemon-record.ts";
import type { Log } from "../platform/log.ts";
import type { ReeveError } from "../platform/reeve-error.ts";
import type { Runtime } from "../runtime/contract.ts";
import type { Caller } from "../session/caller.ts";
import type { Command } from "../session/input.ts";
import type { Message } from "../session/message.ts";
import type { SessionRequest } from "../session/plan-session.ts";
import type { Session } from "../session/session.ts";
import type { ChosenTimeOuts } from "../session/time-out.ts";
import type { MemoryStore } from "../memory/memory-store.ts";
import type { SearchIndex } from "../search/index-process.ts";
import type { Store } from "../store/contract.ts";
import type { CaptureRecord } from "./capture/capture-record.ts";
import type { ProxyProgram } from "./capture/proxy-process.ts";
import type { GitStatus } from "./attention/checkout-status.ts";
import type { Diagnosis } from "./diagnosis/diagnosis.ts";
import type { Breaker } from "./fleet/breaker.ts";
import type { Indexer } from "./index/indexer.ts";
import type { Inbox } from "./fleet/inbox-keeper.ts";
import type { Waker } from "./fleet/waker.ts";
import type { Environment, EnvironmentFiles } from "./launch/environment.ts";
import type { Foreign } from "./launch/foreign-agents.ts";
import type { Launcher } from "./launch/launcher.ts";
import type { ProgramFinder } from "./launch/program-finder.ts";
import type { RuleBook } from "./launch/rule-book.ts";
import type { Settings } from "./launch/settings.ts";
import type { Wish } from "./ledger/ledger.ts";
import type { Post } from "./ledger/post.ts";
import type { WorkBook } from "./ledger/work-book.ts";
import type { Memories } from "./memory/memories.ts";
import type { Notifier } from "./notify/notifier.ts";
import type { Pruner } from "./retention/pruner.ts";
import type { Exports } from "./story/exports.ts";
import type { Orphan } from "./sweep.ts";
import type { About, Testimony } from "./testimony.ts";
import type { Worktrees } from "./worktree/worktrees.ts";

export interface SupervisorParts {
  readonly store: Store;
  /** Of `reeve search` and `reeve stats`. */
  readonly index: SearchIndex;
  /** What agents and the operator remember. */
  readonly memories: MemoryStore;
  readonly runtimes: readonly Runtime[];
  readonly agents: readonly Agent[];
  readonly rules: RuleBook;
  /** What is wrong with config.toml, of which then nothing counts. */
  readonly configProblem: ReeveError | null;
  /** For the sockets of agents' own protocols. */
  readonly socketDir: string;
  /** Where the daemon takes calls from sessions. */
  readonly socketOfSessions: string;
  /** Where Reeve writes, whose disks must not fill up. */
  readonly directories: readonly string[];
  /** Below which the directories of sessions are. */
  readonly outputsRoot: string;
  readonly settings: Settings;
  /** By which approvals are answered without a person. */
  readonly approvalRules: readonly ApprovalRule[];
  /** What captures the traffic of sessions. */
  readonly capture: { readonly record: CaptureRecord; readonly program: ProxyProgram; readonly doorsDir: string };
  /** What agents are given to call Reeve with. */
  readonly mcp: McpServer;
  /** What is run where a session lives to find out what it reaches (probe-program.ts). */
  readonly probeProgram: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The daemon's own environment: the fallback for a start that nobody brought one for. */
  readonly ownEnvironment: Readonly<Record<string, string | undefined>>;
  /** Variables of Reeve's and of agents' sessions that no session may inherit. */
  readonly scrub: readonly string[];
}

export interface EnvironmentRequest extends EnvironmentFiles {
  readonly caller: Readonly<Record<string, string | undefined>>;
  readonly given: Environment;
}

export interface Supervisor {
  readonly settings: Settings;
  readonly approvalRules: readonly ApprovalRule[];
  /** What a session's process will see. */
  environment(request: EnvironmentRequest): Environment;
  /** How an agent wants to be started; throws what is wrong with the request. */
  readonly plan: Launcher;
  readonly programs: ProgramFinder;
  /** Agents of this user that Reeve did not start, as they are now. */
  foreign(): Promise<readonly Foreign[]>;
  /** A first prompt that could not be given on the command line goes in as the first message. */
  start(
    request: Omit<SessionRequest, "passHash" | "account" | "hasWaited">,
    environment: Environment,
    wish: Wish & { readonly firstMessage?: string; readonly workId?: string | undefined },
  ): Promise<Session>;
  /** A start that is repeated brings its environment again: the daemon that had it may be gone. */
  bringAgain(sessionId: string, request: EnvironmentRequest): void;
  /** A restart may bring an environment, used only where the runtime kept none. */
  submit(sessionId: string, command: Command, wish: Wish & { readonly environment?: Environment }): Promise<Session>;
  /** `workId`: the item of work that the session is given with it, in the same commit. */
  send(
    session: Session,
    message: Pick<Message, "id" | "text" | "submit" | "how">,
    wish: Wish & { readonly workId?: string | undefined },
  ): Promise<void>;
  /** Takes a message back that nobody has begun to type. */
  withdraw(message: Message, wish: Wish): Promise<void>;
  /** Sessions are woken for what happened to those that they started. */
  readonly wakes: Pick<Waker, "tell" | "due">;
  /** The operator is told of what comes into the inbox. */
  readonly notifications: Pick<Notifier, "views" | "test">;
  /** The limits of vendors, and who waits for them. */
  readonly quota: Pick<Breaker, "quotas" | "sessionsOn" | "parked">;
  /** Between sessions, and with the operator. */
  readonly mail: Post;
  /** What agents and the operator remember. */
  readonly memories: Memories;
  /** What is to be done, and by whom. */
  readonly work: Omit<WorkBook, "load" | "idle">;
  /** What needs a person. */
  readonly inbox: Omit<Inbox, "load" | "start" | "close">;
  /** After how long something is done about it, and who chose that. */
  timeOuts(session: Session): ChosenTimeOuts;
  readonly worktrees: Omit<Worktrees, "recover" | "idle">;
  /** Removes what is kept no longer. */
  readonly retention: Pick<Pruner, "run">;
  /** While a session is exported it is not removed. */
  readonly exports: Pick<Exports, "run">;
  /** What was said, happened and was counted, in all sessions. */
  readonly search: Pick<Indexer, "find" | "numbers" | "progress">;
  /** One that is not known is inert: it says so, and does nothing. */
  agent(name: string): Agent;
  agents(): readonly Agent[];
  /** Throws what keeps this agent from being started here. */
  requireStartable(agent: string, runtime: string): void;
  /** Throws what keeps this session from being written to or started again. */
  requireUnimpeded(session: Session): void;
  /** What a view of a session says that is not in its record. */
  about(session: Session): About;
  /** What git says of its checkout now; null where it works in none, or git does not answer. */
  gitNow(session: Session): Promise<GitStatus | null>;
  /** What was read of a session, by whom, and what came of it. */
  testimony(session: Session): Testimony;
  /** The values that no file about it may hold: of its process, or where that cannot say any more, what can still be read. */
  secretsOf(session: Session): Promise<readonly string[]>;
  /** Which layer is broken: what a session depends on, as it sees it and as Reeve does. */
  readonly diagnosis: Diagnosis;
  /** Resolves when this incarnation has spoken, or drawn what it draws when it is up. */
  firstWord(session: Session): Promise<void>;
  runtime(kind: string): Runtime;
  /** Those that sessions can be started on, the one that is used unless another is asked for first. */
  runtimes(): readonly Runtime[];
  orphans(): readonly Orphan[];
  /** For the record: somebody was refused what they called. Null: it could not be proven who. */
  noteRefusal(caller: Caller | null, refusal: Refusal): void;
  /** Adopts what survived, reports what did not, resumes what was under way. */
  boot(version: string, deaths: readonly Death[]): Promise<void>;
  /** Watches the sessions that were found; begun when the daemon can be asked, because whoever waits for that comes first. */
  watchFound(): void;
  close(): Promise<void>;
}

/** `target`: what the call named, as it was written. */
export interface Refusal {
  readonly operation: string;
  readonly target: string | null;
  readonly code: string;
  readonly why: string;
}
