/** The HTTP path of each operation. The operations define it; a test compares this copy with them. */
import { ReeveError } from "../platform/reeve-error.ts";
import type { Verb } from "./operation-types.ts";

export interface Route {
  readonly method: "GET" | "POST";
  readonly path: `/v1/${string}`;
  /** Where nothing is named that would stand in the path. */
  readonly pathWithout?: `/v1/${string}`;
  /** Asked for text/event-stream, it goes on with what happens next. */
  readonly streams?: true;
}

export const ROUTES = {
  startSession: { method: "POST", path: "/v1/sessions" },
  listSessions: { method: "GET", path: "/v1/sessions" },
  getSession: { method: "GET", path: "/v1/sessions/{session}" },
  getSessionData: { method: "GET", path: "/v1/sessions/{session}/data" },
  explainSession: { method: "GET", path: "/v1/sessions/{session}/explain" },
  recover: { method: "GET", path: "/v1/recover" },
  showSession: { method: "GET", path: "/v1/sessions/{session}/story" },
  exportSession: { method: "POST", path: "/v1/sessions/{session}/export" },
  importArchive: { method: "POST", path: "/v1/imports" },
  listImports: { method: "GET", path: "/v1/imports" },
  removeImport: { method: "POST", path: "/v1/imports/{import}/remove" },
  acknowledgeSession: { method: "POST", path: "/v1/sessions/{session}/seen" },
  renameSession: { method: "POST", path: "/v1/sessions/{session}/rename" },
  sendMessage: { method: "POST", path: "/v1/sessions/{session}/messages" },
  listMessages: { method: "GET", path: "/v1/sessions/{session}/messages" },
  cancelMessage: { method: "POST", path: "/v1/sessions/{session}/messages/{message}/cancel" },
  sendMail: { method: "POST", path: "/v1/mail" },
  checkMail: { method: "GET", path: "/v1/mail" },
  readMail: { method: "POST", path: "/v1/mail/{mail}/read" },
  archiveMail: { method: "POST", path: "/v1/mail/{mail}/archive" },
  retractMail: { method: "POST", path: "/v1/mail/{mail}/retract" },
  addMemory: { method: "POST", path: "/v1/memory" },
  searchMemory: { method: "GET", path: "/v1/memory/search" },
  listMemories: { method: "GET", path: "/v1/memory" },
  forgetMemory: { method: "POST", path: "/v1/memory/{memory}/forget" },
  addWork: { method: "POST", path: "/v1/work" },
  listWork: { method: "GET", path: "/v1/work" },
  getWork: { method: "GET", path: "/v1/work/{work}" },
  editWork: { method: "POST", path: "/v1/work/{work}/edit" },
  changeWork: { method: "POST", path: "/v1/work/{work}/change" },
  nextWork: { method: "POST", path: "/v1/work/next" },
  planWork: { method: "POST", path: "/v1/work/plan" },
  waitForSession: { method: "GET", path: "/v1/sessions/{session}/wait", pathWithout: "/v1/wait" },
  interruptSession: { method: "POST", path: "/v1/sessions/{session}/interrupt" },
  pauseSession: { method: "POST", path: "/v1/sessions/{session}/pause" },
  resumeSession: { method: "POST", path: "/v1/sessions/{session}/resume" },
  restartSession: { method: "POST", path: "/v1/sessions/{session}/restart" },
  setRestartPolicy: { method: "POST", path: "/v1/sessions/{session}/restart-policy" },
  endSession: { method: "POST", path: "/v1/sessions/{session}/end" },
  holdSession: { method: "POST", path: "/v1/sessions/{session}/hold" },
  cancelEnd: { method: "POST", path: "/v1/sessions/{session}/end/cancel" },
  listApprovals: { method: "GET", path: "/v1/approvals" },
  answerApproval: { method: "POST", path: "/v1/approvals" },
  listRules: { method: "GET", path: "/v1/rules" },
  testRules: { method: "POST", path: "/v1/rules/test" },
  listInbox: { method: "GET", path: "/v1/inbox" },
  answerInbox: { method: "POST", path: "/v1/inbox/{item}" },
  listWorktrees: { method: "GET", path: "/v1/worktrees" },
  saveWorktree: { method: "POST", path: "/v1/worktrees/save" },
  removeWorktree: { method: "POST", path: "/v1/worktrees/remove" },
  getAttachCommand: { method: "GET", path: "/v1/sessions/{session}/attach" },
  listForeign: { method: "GET", path: "/v1/foreign" },
  listNotifications: { method: "GET", path: "/v1/notifications" },
  testNotification: { method: "POST", path: "/v1/notifications/test" },
  search: { method: "GET", path: "/v1/search" },
  getStats: { method: "GET", path: "/v1/stats" },
  listQuotas: { method: "GET", path: "/v1/quotas" },
  planManifest: { method: "POST", path: "/v1/manifest/plan" },
  buildImage: { method: "POST", path: "/v1/images", streams: true },
  listImages: { method: "GET", path: "/v1/images" },
  diagnose: { method: "POST", path: "/v1/doctor" },
  readEvents: { method: "GET", path: "/v1/events", streams: true },
  prune: { method: "POST", path: "/v1/prune" },
  daemonStatus: { method: "GET", path: "/v1/daemon" },
  stopDaemon: { method: "POST", path: "/v1/daemon/stop" },
} as const satisfies Record<Verb, Route>;

export interface AimedRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
}

/** `{session}` goes into the path, the rest into the query (arrays repeat their key) or the body. */
export function aim(route: Route, input: Readonly<Record<string, unknown>>): AimedRequest {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const isNamed = [...route.path.matchAll(/\{(\w+)\}/g)].every(([, name = ""]) => rest.has(name));
  const path = (isNamed ? route.path : (route.pathWithout ?? route.path)).replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    return segment(typeof value === "string" ? value : "");
  });
  if (route.method === "POST") return { method: "POST", path, body: JSON.stringify(Object.fromEntries(rest)) };
  const pairs = [...rest].flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map(
      (one) => `${encodeURIComponent(name)}=${encodeURIComponent(String(one))}`,
    ),
  );
  return { method: "GET", path: pairs.length === 0 ? path : `${path}?${pairs.join("&")}` };
}

/** Nothing, and dots, would name another path altogether. */
function segment(value: string): string {
  if (!/^\.{0,2}$/.test(value)) return encodeURIComponent(value);
  throw new ReeveError({
    code: "bad-request",
    kind: "usage",
    message: `"${value}" cannot name a session; give its name or its id as reeve list shows them.`,
  });
}
