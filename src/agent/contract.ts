/**
 * What runs in a session. An agent is pure: it plans launches, encodes input
 * and turns what it is shown (a hook's record, a transcript line, a status
 * file) into readings. It opens no file, starts no process and keeps no state,
 * except `openChannel`, for agents with a protocol of their own.
 *
 * Screens and titles are read by rules that are data: rules/<agent>.toml, see
 * screen-rules.ts.
 */
import type { ApprovalRequest, Decision } from "../session/approval.ts";
import type { FailureKind } from "../session/failure.ts";
import type { InputStep } from "../session/input.ts";
import type { LimitReading } from "../session/limit.ts";
import type { PlannedCapture } from "../session/persistence.ts";
import type { Reading, Usage } from "../session/reading.ts";
import type { ActivityStatus, BackgroundTask, Launch, NamedProcess } from "../session/session.ts";
import type { ForeignReader } from "./foreign.ts";
import type { McpServer } from "./mcp-server.ts";
import type { NativeReader } from "./native-capture.ts";

export interface AgentCapabilities {
  /** Knows when a turn begins and ends. */
  readonly turns: boolean;
  /** Tells of the beginning of every turn, so that a prompt is known to have arrived. */
  readonly confirms: boolean;
  readonly transcript: boolean;
  /** Takes text into a turn that is under way. */
  readonly steer: boolean;
}

/** The program an agent is, for those that must be installed. */
export interface AgentProgram {
  /** Looked up in the session's PATH unless the settings name another. */
  readonly command: string;
  readonly versionArgs: readonly string[];
  readVersion(output: string): string | null;
  /** Older ones are refused. */
  readonly oldest: string;
  /** What a person types to get it. */
  readonly install: string;
  /** What a person types to log in. */
  readonly login: string;
}

/** Whether it is logged in, as far as files and variables tell; nobody is asked. */
export interface Login {
  readonly status: "logged-in" | "logged-out" | "unknown";
  /** By what that is known, or why it is not: half a sentence. */
  readonly text: string;
}

export interface LoginContext {
  /** What a session's process would see. */
  readonly environment: Readonly<Record<string, string>>;
  readonly launch: Launch;
  /** The text of a small file of the user's, or null where there is none. */
  readonly read: (path: string) => string | null;
}

/** The table `[agent.<name>]` of config.toml, less what every agent has. */
export type AgentSettings = Readonly<Record<string, string | number | boolean>>;

export interface LaunchContext {
  readonly sessionId: string;
  readonly launch: Launch;
  /** Continue this conversation, which exists; null starts a new one. */
  readonly resume: { readonly nativeId: string; readonly transcriptPath: string | null } | null;
  /** Begin under this id: the session's own is taken by a conversation that holds nothing. */
  readonly newId?: string;
  /** The first prompt, as long as it has not been taken by an earlier incarnation. */
  readonly prompt: string | null;
  /** The session's own directory; `spool` below it is where hooks write. */
  readonly sessionDir: string;
  readonly spoolDir: string;
  /** A short directory for sockets (a socket's path may have 107 bytes), private to this home. */
  readonly socketDir: string;
  /** The program as found, with its version where that could be read; null for agents that have none. */
  readonly program: { readonly path: string; readonly version: string | null } | null;
  readonly settings: AgentSettings;
  /** Reeve's MCP server, for an agent that can be given one; null: not in this session. */
  readonly mcp: McpServer | null;
  /** It is to be reminded to remember at the end of a turn (reminder.ts), if it can be. */
  readonly reminds?: true;
  /** How the traffic with its model is captured; null: not at all. */
  readonly capture: CaptureContext | null;
  /** The text of a small file of the user's, or null where there is none. */
  readonly read: (path: string) => string | null;
}

export interface CaptureContext {
  readonly how: "native" | "proxy";
  /** Where the agent is to write what it captures itself, below the session's directory. */
  readonly nativeDir: string;
  /** Under which address the capture proxy serves the upstream of this name (`LaunchPlan.capture`); null with native. */
  readonly baseUrl: ((upstream: string) => string) | null;
  /** Where its own log is to go: absolute; null: nobody asked for it. */
  readonly debugLog: string | null;
}

export interface LaunchPlan {
  /** Argument vector of the program. */
  readonly argv: readonly string[];
  /** Added to the session's environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Written before the start, below the session's directory. */
  readonly files: readonly PlannedFile[];
  /** Known in advance where the agent lets itself be told. */
  readonly nativeId: string | null;
  /** Known in advance, or learnt later by a reading. */
  readonly transcriptPath: string | null;
  /** Why there is no transcript to read yet, or at all. */
  readonly observabilityReason: string;
  /** The prompt is not in `argv` (too long, or this agent takes none there): it is to be sent as the first message. */
  readonly isPromptLeftOut: boolean;
  /** How it is watched, for `explain`: "app-server", "hooks", … and a sentence. */
  readonly mode: { readonly name: string; readonly text: string };
  /** Where `openChannel` finds the agent's own protocol. */
  readonly channel: { readonly socket: string } | null;
  /** A directory in which the agent keeps a status file while it runs. */
  readonly statusDir: string | null;
  /** Present where it was asked for and will be done. */
  readonly reminds?: true;
  /** What capturing its traffic means for it; missing where that is not captured. */
  readonly capture?: PlannedCapture;
}

/** A file or directory of the user's that the agent has in a container. */
export interface HomePart {
  /** Where it is inside, from the home directory. */
  readonly path: string;
  /** Where the user has it: absolute. It need not be there. */
  readonly source: string;
  /**
   * `shared`: a log-in that it renews in place, for everybody. `in-step`: one that it renews by a new file, which Reeve
   * puts in the place of the other. `copied`: it writes there itself, and what it writes stays with the session.
   */
  readonly how: "read-only" | "shared" | "in-step" | "copied";
  /** What of a text is copied, where that is not all of it. */
  readonly shorten?: (text: string) => string;
}

export interface PlannedFile {
  readonly path: string;
  readonly content: string;
  readonly isExecutable: boolean;
}

/** One message of a conversation, the same form for every agent. */
export interface TranscriptMessage {
  readonly role: "user" | "assistant" | "tool" | "system";
  readonly text: string;
  /** Of a call (role assistant) or of its result (role tool). */
  readonly tool: ToolUse | null;
  /** What this answer cost, where the transcript says so. */
  readonly usage: Usage | null;
  readonly at: string | null;
  /** The agent's own name of the turn. */
  readonly turn: string | null;
}

export interface ToolUse {
  readonly id: string | null;
  readonly name: string;
  /** Of a call: its input. Null for a result. */
  readonly input: string | null;
  readonly isError: boolean;
}

/** What is already known of a session, for reading what comes next. */
export interface Known {
  readonly nativeId: string | null;
  readonly transcriptPath: string | null;
  readonly version: string | null;
  readonly launch: Launch;
  readonly activity: ActivityStatus;
  readonly turnOpen: boolean;
  /** How the last turn ended; null before the first end. */
  readonly lastVerdict: "completed" | "failed" | "interrupted" | null;
  /** Questions that are open, oldest first. */
  readonly approvals: readonly ApprovalRequest[];
  /** What it left working in the background. */
  readonly background: readonly BackgroundTask[];
}

export interface Agent {
  readonly name: string;
  /** Why nothing can be done with it, in a sentence; only where it stands in for one that is not known. */
  readonly impediment?: string;
  readonly capabilities: AgentCapabilities;
  /** How an orchestrator should wait for it. */
  readonly wait: "notification" | "poll";
  /**
   * Some versions or ways to run it write nothing before the first turn is over. Until then an orchestrator only waits,
   * so that it never takes the missing transcript for an end.
   */
  readonly hidesFirstTurn?: true;
  /** It can go on with a conversation that was begun outside Reeve. */
  readonly canAdopt?: true;
  /** In which ways the traffic with its model can be captured (session/persistence.ts); missing: in none. */
  readonly captures?: { readonly native: boolean; readonly proxy: boolean };
  /** Variables (never secrets) that its plan for this way wants to know; their values are in `launch.paths` then. */
  readonly captureVariables?: Readonly<Record<"native" | "proxy", readonly string[]>>;
  /** Present where it captures natively: what it left in `CaptureContext.nativeDir`. */
  readonly native?: NativeReader;
  /** What the headers of a model's response say of limits, as the capture proxy saw them. */
  readonly readLimitHeaders?: (
    headers: Readonly<Record<string, string>>,
    response: { readonly status: number; readonly at: number },
  ) => readonly LimitReading[];
  /** Names of such headers beside those with "ratelimit" in them and `retry-after`; `*` at the end for any rest. */
  readonly limitHeaders?: readonly string[];
  /** What a message of the model's over a websocket says of limits. */
  readonly readLimitMessage?: (
    message: Readonly<Record<string, unknown>>,
    seen: { readonly at: number },
  ) => readonly LimitReading[];
  /** The `type` of such messages. */
  readonly limitMessages?: readonly string[];
  /** Its own variables for a file of certificates, beside those that many programs have. */
  readonly caVariables?: readonly string[];
  /** It removes transcripts by itself: of one that ended, a copy is kept. */
  readonly deletesTranscripts?: true;
  /** What a link to its transcript is called, where the agent's own file has a name that people look for. */
  readonly transcriptName?: (nativeId: string) => string;
  /** Where people look for what belongs to a conversation: there a link leads to the session's directory. */
  readonly directoryLink?: (known: Pick<Known, "nativeId" | "launch">) => string | null;
  readonly program: AgentProgram | null;
  /** Environment variables that belong to one of its sessions and must not leak into another; `*` ends a prefix. */
  readonly sessionVariables: readonly string[];
  /** Variables (paths, never secrets) by which it finds its files; their values are in `launch.paths`. */
  readonly pathVariables: readonly string[];
  /** What it needs of the user's files in a container, where its home is a directory of the session's; missing: nothing. */
  readonly homeParts?: (launch: Launch) => readonly HomePart[];
  /** Variables by which it logs in at its model, and finds that: of the user's they go into its container. */
  readonly loginVariables?: (context: Omit<LoginContext, "environment">) => readonly string[];
  /** Present for those that must be logged in. */
  readonly readLogin?: (context: LoginContext) => Login;
  /**
   * Whose limits a session draws on: the same text for the same log-in, another one for another. It holds no secret.
   * Null where nobody is logged in, or it cannot be told.
   */
  readonly readAccount?: (context: LoginContext) => string | null;
  /** The kind of a failure by its text alone: of a turn that only the screen tells of, or what a process printed last. */
  readonly failureOf?: (text: string) => FailureKind;
  /** Present for those that people also run themselves: how such a one is recognized. */
  readonly foreign?: ForeignReader;
  /** Present where it has a sandbox for the commands it runs: what to put before a program to run it in there; null: it is off. */
  readonly sandbox?: (context: SandboxContext) => readonly string[] | null;
  /** Throws a usage error when the launch makes no sense for this agent. */
  plan(context: LaunchContext): LaunchPlan;
  encode(message: { readonly text: string; readonly submit: boolean }): readonly InputStep[];
  /** Its reports cut prompts at so many characters. */
  readonly promptLimit?: number;
  /** What to type to stop the turn under way. */
  readonly interrupt: readonly InputStep[] | null;
  /** What to type to answer the question on the screen. */
  encodeAnswer(approval: ApprovalRequest, decision: Decision): readonly InputStep[] | null;
  /** What its dialog shows of this question and of no other, as far as it can be known; each must be found there. */
  shownOf(approval: ApprovalRequest): readonly string[];
  /** Whether typing now reaches the agent as a message. */
  accepts(activity: ActivityStatus): boolean;
  /** One hook's record, as spooled. */
  readHook(record: unknown, known: Known): Reading | null;
  /** One complete line that the transcript gained: what it says of turns, approvals and usage. */
  readLine(line: string, known: Known): Reading | null;
  /** Whether a line is a message, for agents that refuse to resume a transcript without one. */
  readonly holdsMessage?: (line: string) => boolean;
  /** Complete lines of the transcript, oldest first, as messages; the first may come from the middle of the file. */
  readMessages(lines: readonly string[]): readonly TranscriptMessage[];
  /** A file in the plan's `statusDir`, or null where it is not this session's; `content: null`: it was removed. */
  readStatus(file: { readonly name: string; readonly content: string | null }, known: Known): Reading | null;
  /** Which process says, by a file in `statusDir`, that it has this conversation open: the file speaks for that one alone. */
  readonly readHolder?: (
    file: { readonly name: string; readonly content: string },
    nativeId: string,
  ) => NamedProcess | null;
  /** Files that the session's processes hold open; asked while its id or transcript is not known. */
  readOpenFiles(paths: readonly string[], known: Known): Reading | null;
  /** Where to look for a transcript whose id is known and whose path is not. */
  searchTranscript(known: Known): { readonly root: string; readonly depth: number; readonly suffix: string } | null;
  /** What it makes for its channel's socket, and leaves when it is killed: each named after the socket's real path. */
  readonly socketFiles?: (socket: string) => readonly string[];
  /** Present where the agent has a protocol of its own. */
  readonly openChannel?: (context: ChannelContext) => Promise<Channel>;
}

export interface SandboxContext {
  /** The agent's own. */
  readonly program: string;
  readonly launch: Launch;
  /** The newest lines of its transcript, oldest first. */
  readonly lines: readonly string[];
}

export interface ChannelContext {
  readonly socket: string;
  readonly nativeId: string | null;
  /** In the order things happened. */
  readonly onReading: (reading: Reading) => void;
  /** Once, whatever the cause; not after `close()`. */
  readonly onClose: (why: string) => void;
}

/** A connection to a living agent's own protocol. */
export interface Channel {
  /** Resolves, with the evidence, once the agent took it; an error with `details.sent === false` means it was not sent. */
  send(text: string, how: "turn" | "steer"): Promise<string>;
  interrupt(): Promise<string>;
  answer(approvalId: string, decision: Decision): Promise<string>;
  /** Resolves when the agent answered something that concerns no conversation; rejects where it did not. */
  ping(): Promise<void>;
  /** What it cannot tell although it is open, in words; null when it tells everything. */
  lacks(): string | null;
  close(): void;
}
