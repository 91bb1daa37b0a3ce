/** The typed client: one method per operation, over the daemon's unix socket. */
import { resolve } from "node:path";
import { locateHome } from "../platform/home.ts";
import type { Surface } from "../platform/surface.ts";
import type { BuildOptions } from "./build-image.ts";
import { call, callForBytes } from "./call.ts";
import type { CallOptions } from "./call.ts";
import { followEvents } from "./follow-events.ts";
import type { FollowInput, FollowOptions } from "./follow-events.ts";
import { callerIn } from "./inside-session.ts";
import type { Link, UnreadMailCount } from "./request.ts";
import type { EventView, InputOf, OutputOf, Verb } from "./operation-types.ts";
import { waitForSession } from "./wait.ts";
import type { WaitInput } from "./wait.ts";

export interface ClientOptions {
  /** Instead of REEVE_HOME and the XDG directories. */
  readonly home?: string;
  /** A socket somewhere else; nothing is started for it. */
  readonly socketPath?: string;
  /** Start the daemon when it is not running; true unless said otherwise. After a crash: not one that was stopped on purpose. */
  readonly autostart?: boolean | "after-crash";
  /** How long a call goes on when the daemon dies over it again and again; 30 000 unless said otherwise. */
  readonly enduranceMs?: number;
  /** For every change that this client asks for, unless the call brings its own: see CallOptions. */
  readonly idempotencyKey?: string;
  /** Called with every answer that a session gets: how much of its mail is unread. */
  readonly onUnreadMail?: (unread: UnreadMailCount) => void;
  /** Have the daemon check each answer against its schema, which takes a moment; for those who pass answers on. */
  readonly isChecked?: boolean;
  /** What calls, for the record: Reeve's own programs say `cli`, `board` or `mcp`; `http` unless said otherwise. */
  readonly surface?: Surface;
  /** Called with a sentence for a person when a call takes long because the daemon does not answer. */
  readonly onNotice?: (sentence: string) => void;
}

export interface Installation {
  /** What runs the daemon: a program and its arguments; asked for only when it must be started. */
  readonly daemonCommand: () => readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Client {
  /** Any operation, answered with the JSON that the daemon wrote: for those who only pass both on. */
  callForBytes(verb: Verb, input: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<Buffer>;
  startSession(input: InputOf<"startSession">, options?: CallOptions): Promise<OutputOf<"startSession">>;
  listSessions(input?: InputOf<"listSessions">, options?: CallOptions): Promise<OutputOf<"listSessions">>;
  /** The same, as the JSON that the daemon wrote. */
  listSessionsBytes(input?: InputOf<"listSessions">, options?: CallOptions): Promise<Buffer>;
  getSession(input: InputOf<"getSession">, options?: CallOptions): Promise<OutputOf<"getSession">>;
  getSessionData(input: InputOf<"getSessionData">, options?: CallOptions): Promise<OutputOf<"getSessionData">>;
  showSession(input: InputOf<"showSession">, options?: CallOptions): Promise<OutputOf<"showSession">>;
  exportSession(input: InputOf<"exportSession">, options?: CallOptions): Promise<OutputOf<"exportSession">>;
  importArchive(input: InputOf<"importArchive">, options?: CallOptions): Promise<OutputOf<"importArchive">>;
  listImports(input: InputOf<"listImports">, options?: CallOptions): Promise<OutputOf<"listImports">>;
  removeImport(input: InputOf<"removeImport">, options?: CallOptions): Promise<OutputOf<"removeImport">>;
  explainSession(input: InputOf<"explainSession">, options?: CallOptions): Promise<OutputOf<"explainSession">>;
  recover(input: InputOf<"recover">, options?: CallOptions): Promise<OutputOf<"recover">>;
  acknowledgeSession(
    input: InputOf<"acknowledgeSession">,
    options?: CallOptions,
  ): Promise<OutputOf<"acknowledgeSession">>;
  renameSession(input: InputOf<"renameSession">, options?: CallOptions): Promise<OutputOf<"renameSession">>;
  sendMessage(input: InputOf<"sendMessage">, options?: CallOptions): Promise<OutputOf<"sendMessage">>;
  listMessages(input: InputOf<"listMessages">, options?: CallOptions): Promise<OutputOf<"listMessages">>;
  cancelMessage(input: InputOf<"cancelMessage">, options?: CallOptions): Promise<OutputOf<"cancelMessage">>;
  sendMail(input: InputOf<"sendMail">, options?: CallOptions): Promise<OutputOf<"sendMail">>;
  checkMail(input?: InputOf<"checkMail">, options?: CallOptions): Promise<OutputOf<"checkMail">>;
  /** Marks it as read, if it is the caller's. */
  readMail(input: InputOf<"readMail">, options?: CallOptions): Promise<OutputOf<"readMail">>;
  archiveMail(input: InputOf<"archiveMail">, options?: CallOptions): Promise<OutputOf<"archiveMail">>;
  retractMail(input: InputOf<"retractMail">, options?: CallOptions): Promise<OutputOf<"retractMail">>;
  /** For a project and a role; secrets are taken out. */
  addMemory(input: InputOf<"addMemory">, options?: CallOptions): Promise<OutputOf<"addMemory">>;
  searchMemory(input: InputOf<"searchMemory">, options?: CallOptions): Promise<OutputOf<"searchMemory">>;
  listMemories(input: InputOf<"listMemories">, options?: CallOptions): Promise<OutputOf<"listMemories">>;
  forgetMemory(input: InputOf<"forgetMemory">, options?: CallOptions): Promise<OutputOf<"forgetMemory">>;
  addWork(input: InputOf<"addWork">, options?: CallOptions): Promise<OutputOf<"addWork">>;
  listWork(input?: InputOf<"listWork">, options?: CallOptions): Promise<OutputOf<"listWork">>;
  getWork(input: InputOf<"getWork">, options?: CallOptions): Promise<OutputOf<"getWork">>;
  editWork(input: InputOf<"editWork">, options?: CallOptions): Promise<OutputOf<"editWork">>;
  changeWork(input: InputOf<"changeWork">, options?: CallOptions): Promise<OutputOf<"changeWork">>;
  nextWork(input?: InputOf<"nextWork">, options?: CallOptions): Promise<OutputOf<"nextWork">>;
  planWork(input?: InputOf<"planWork">, options?: CallOptions): Promise<OutputOf<"planWork">>;
  /** Goes on across restarts of the daemon, until done or its own deadline. */
  waitForSession(input: WaitInput, options?: CallOptions): Promise<OutputOf<"waitForSession">>;
  interruptSession(input: InputOf<"interruptSession">, options?: CallOptions): Promise<OutputOf<"interruptSession">>;
  pauseSession(input: InputOf<"pauseSession">, options?: CallOptions): Promise<OutputOf<"pauseSession">>;
  resumeSession(input: InputOf<"resumeSession">, options?: CallOptions): Promise<OutputOf<"resumeSession">>;
  restartSession(input: InputOf<"restartSession">, options?: CallOptions): Promise<OutputOf<"restartSession">>;
  setRestartPolicy(input: InputOf<"setRestartPolicy">, options?: CallOptions): Promise<OutputOf<"setRestartPolicy">>;
  endSession(input: InputOf<"endSession">, options?: CallOptions): Promise<OutputOf<"endSession">>;
  holdSession(input: InputOf<"holdSession">, options?: CallOptions): Promise<OutputOf<"holdSession">>;
  cancelEnd(input: InputOf<"cancelEnd">, options?: CallOptions): Promise<OutputOf<"cancelEnd">>;
  listApprovals(input?: InputOf<"listApprovals">, options?: CallOptions): Promise<OutputOf<"listApprovals">>;
  answerApproval(input: InputOf<"answerApproval">, options?: CallOptions): Promise<OutputOf<"answerApproval">>;
  listRules(input?: InputOf<"listRules">, options?: CallOptions): Promise<OutputOf<"listRules">>;
  testRules(input?: InputOf<"testRules">, options?: CallOptions): Promise<OutputOf<"testRules">>;
  listInbox(input?: InputOf<"listInbox">, options?: CallOptions): Promise<OutputOf<"listInbox">>;
  answerInbox(input: InputOf<"answerInbox">, options?: CallOptions): Promise<OutputOf<"answerInbox">>;
  listWorktrees(options?: CallOptions): Promise<OutputOf<"listWorktrees">>;
  saveWorktree(input: InputOf<"saveWorktree">, options?: CallOptions): Promise<OutputOf<"saveWorktree">>;
  removeWorktree(input: InputOf<"removeWorktree">, options?: CallOptions): Promise<OutputOf<"removeWorktree">>;
  getAttachCommand(input: InputOf<"getAttachCommand">, options?: CallOptions): Promise<OutputOf<"getAttachCommand">>;
  listForeign(options?: CallOptions): Promise<OutputOf<"listForeign">>;
  listNotifications(
    input?: InputOf<"listNotifications">,
    options?: CallOptions,
  ): Promise<OutputOf<"listNotifications">>;
  testNotification(input: InputOf<"testNotification">, options?: CallOptions): Promise<OutputOf<"testNotification">>;
  listQuotas(options?: CallOptions): Promise<OutputOf<"listQuotas">>;
  planManifest(input: InputOf<"planManifest">, options?: CallOptions): Promise<OutputOf<"planManifest">>;
  /** Goes on for as long as it takes, or until the signal fires. */
  buildImage(input?: InputOf<"buildImage">, options?: BuildOptions): Promise<OutputOf<"buildImage">>;
  listImages(options?: CallOptions): Promise<OutputOf<"listImages">>;
  diagnose(input: InputOf<"diagnose">, options?: CallOptions): Promise<OutputOf<"diagnose">>;
  readEvents(input?: InputOf<"readEvents">, options?: CallOptions): Promise<OutputOf<"readEvents">>;
  search(input: InputOf<"search">, options?: CallOptions): Promise<OutputOf<"search">>;
  getStats(input?: InputOf<"getStats">, options?: CallOptions): Promise<OutputOf<"getStats">>;
  prune(input?: InputOf<"prune">, options?: CallOptions): Promise<OutputOf<"prune">>;
  /** Each event once, from `since` on, across broken connections; ends when the signal fires. */
  followEvents(input?: FollowInput, options?: FollowOptions): AsyncIterable<EventView>;
  daemonStatus(options?: CallOptions): Promise<OutputOf<"daemonStatus">>;
  /** Asked once: a daemon that went away while it was asked did what it was asked. */
  stopDaemon(input?: InputOf<"stopDaemon">, options?: CallOptions): Promise<OutputOf<"stopDaemon">>;
}

/** A daemon that dies before its process is there takes the environment along: this client would bring it again. */
const DEFAULTS: { readonly startSession: { readonly until: "created" } } & Partial<Record<Verb, object>> = {
  startSession: { until: "created" },
};

export function createClient(options: ClientOptions, installation: Installation): Client {
  const link = linkTo(options, installation);
  return {
    callForBytes: (verb, input, rules) => callForBytes(link, verb, { ...DEFAULTS[verb], ...input } as never, rules),
    startSession: (input, rules) => call(link, "startSession", { ...DEFAULTS.startSession, ...input }, rules),
    listSessions: (input = {}, rules) => call(link, "listSessions", input, rules),
    listSessionsBytes: (input = {}, rules) => callForBytes(link, "listSessions", input, rules),
    getSession: (input, rules) => call(link, "getSession", input, rules),
    getSessionData: (input, rules) => call(link, "getSessionData", input, rules),
    showSession: (input, rules) => call(link, "showSession", input, rules),
    exportSession: (input, rules) => call(link, "exportSession", input, rules),
    importArchive: (input, rules) => call(link, "importArchive", input, rules),
    listImports: (input, rules) => call(link, "listImports", input, rules),
    removeImport: (input, rules) => call(link, "removeImport", input, rules),
    explainSession: (input, rules) => call(link, "explainSession", input, rules),
    recover: (input, rules) => call(link, "recover", input, rules),
    acknowledgeSession: (input, rules) => call(link, "acknowledgeSession", input, rules),
    renameSession: (input, rules) => call(link, "renameSession", input, rules),
    sendMessage: (input, rules) => call(link, "sendMessage", input, rules),
    listMessages: (input, rules) => call(link, "listMessages", input, rules),
    cancelMessage: (input, rules) => call(link, "cancelMessage", input, rules),
    sendMail: (input, rules) => call(link, "sendMail", input, rules),
    checkMail: (input = {}, rules) => call(link, "checkMail", input, rules),
    readMail: (input, rules) => call(link, "readMail", input, rules),
    archiveMail: (input, rules) => call(link, "archiveMail", input, rules),
    retractMail: (input, rules) => call(link, "retractMail", input, rules),
    addMemory: (input, rules) => call(link, "addMemory", input, rules),
    searchMemory: (input, rules) => call(link, "searchMemory", input, rules),
    listMemories: (input, rules) => call(link, "listMemories", input, rules),
    forgetMemory: (input, rules) => call(link, "forgetMemory", input, rules),
    addWork: (input, rules) => call(link, "addWork", input, rules),
    listWork: (input = {}, rules) => call(link, "listWork", input, rules),
    getWork: (input, rules) => call(link, "getWork", input, rules),
    editWork: (input, rules) => call(link, "editWork", input, rules),
    changeWork: (input, rules) => call(link, "changeWork", input, rules),
    nextWork: (input = {}, rules) => call(link, "nextWork", input, rules),
    planWork: (input = {}, rules) => call(link, "planWork", input, rules),
    waitForSession: (input, rules) => waitForSession(link, input, rules),
    interruptSession: (input, rules) => call(link, "interruptSession", input, rules),
    pauseSession: (input, rules) => call(link, "pauseSession", input, rules),
    resumeSession: (input, rules) => call(link, "resumeSession", input, rules),
    restartSession: (input, rules) => call(link, "restartSession", input, rules),
    setRestartPolicy: (input, rules) => call(link, "setRestartPolicy", input, rules),
    endSession: (input, rules) => call(link, "endSession", input, rules),
    holdSession: (input, rules) => call(link, "holdSession", input, rules),
    cancelEnd: (input, rules) => call(link, "cancelEnd", input, rules),
    listApprovals: (input = {}, rules) => call(link, "listApprovals", input, rules),
    answerApproval: (input, rules) => call(link, "answerApproval", input, rules),
    listRules: (input = {}, rules) => call(link, "listRules", input, rules),
    testRules: (input = {}, rules) => call(link, "testRules", input, rules),
    listInbox: (input = {}, rules) => call(link, "listInbox", input, rules),
    answerInbox: (input, rules) => call(link, "answerInbox", input, rules),
    listWorktrees: (rules) => call(link, "listWorktrees", {}, rules),
    saveWorktree: (input, rules) => call(link, "saveWorktree", input, rules),
    removeWorktree: (input, rules) => call(link, "removeWorktree", input, rules),
    getAttachCommand: (input, rules) => call(link, "getAttachCommand", input, rules),
    listForeign: (rules) => call(link, "listForeign", {}, rules),
    listNotifications: (input = {}, rules) => call(link, "listNotifications", input, rules),
    testNotification: (input, rules) => call(link, "testNotification", input, rules),
    listQuotas: (rules) => call(link, "listQuotas", {}, rules),
    planManifest: (input, rules) => call(link, "planManifest", input, rules),
    // Few ever build one: what it takes is loaded then.
    buildImage: async (input = {}, rules) => await (await import("./build-image.ts")).buildImage(link, input, rules),
    listImages: (rules) => call(link, "listImages", {}, rules),
    diagnose: (input, rules) => call(link, "diagnose", input, rules),
    readEvents: (input = {}, rules) => call(link, "readEvents", input, rules),
    search: (input, rules) => call(link, "search", input, rules),
    getStats: (input = {}, rules) => call(link, "getStats", input, rules),
    prune: (input = {}, rules) => call(link, "prune", input, rules),
    followEvents: (input = {}, rules) => followEvents(link, input, rules),
    daemonStatus: (rules) => call(link, "daemonStatus", {}, rules),
    stopDaemon: (input = {}, rules) => call({ ...link, start: null }, "stopDaemon", input, { ...rules, isOnce: true }),
  };
}

/** Fifty calls under way learn the same of the daemon; whoever waits for them wants to read it once. */
function onceInARow(tell: (sentence: string) => void): (sentence: string) => void {
  let last = "";
  return (sentence) => {
    if (sentence !== last) tell(sentence);
    last = sentence;
  };
}

function linkTo(options: ClientOptions, { daemonCommand, environment }: Installation): Link {
  const { enduranceMs, idempotencyKey, onNotice: notice, onUnreadMail } = options;
  const rules = {
    ...(options.autostart === "after-crash" ? { revival: "after-crash" as const } : {}),
    ...(notice === undefined ? {} : { notice: onceInARow(notice) }),
    ...(onUnreadMail === undefined ? {} : { onUnreadMail }),
    ...(options.isChecked === true ? { isChecked: true } : {}),
    ...(options.surface === undefined ? {} : { surface: options.surface }),
    ...(enduranceMs === undefined ? {} : { enduranceMs }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
  if (options.socketPath !== undefined) return { ...rules, socketPath: options.socketPath, start: null };
  const home = options.home ?? environment["REEVE_HOME"];
  const isHomeGiven = home !== undefined && home !== "";
  const located = locateHome(isHomeGiven ? { REEVE_HOME: home } : environment);
  const { recordPath, stderrPath } = located;
  const { socketPath, ...named } =
    options.home === undefined ? callerIn(environment, located, isHomeGiven) : { socketPath: located.socketPath };
  if (options.autostart === false) return { ...rules, ...named, socketPath, recordPath, start: null };
  // Absolute, because the daemon is started in another directory; copied only then, because that is slow.
  const daemonEnvironment = () => (isHomeGiven ? { ...environment, REEVE_HOME: resolve(home) } : environment);
  return {
    ...rules,
    ...named,
    socketPath,
    recordPath,
    start: { command: daemonCommand, environment: daemonEnvironment, stderrPath },
  };
}
