/** The layers of one session: its process, its agent's log-in, how it is watched, and everything that it has to reach. */
import { messageOf } from "../platform/reeve-error.ts";
import type { FoundService } from "../session/diagnosis/found-services.ts";
import type { Session } from "../session/session.ts";
import { isEnded } from "../session/session.ts";
import { targetOf } from "../supervisor/ledger/target.ts";
import { withFiles } from "../supervisor/launch/user-file.ts";
import { type Check, layerCheck, plainCheck } from "./check-view.ts";
import type { OperationContext } from "./contract.ts";

export async function checkSession(
  context: OperationContext,
  session: Session,
  services: readonly FoundService[],
): Promise<readonly Check[]> {
  const [process, login, layers] = await Promise.all([
    checkProcess(context, session),
    checkLogin(context, session),
    context.supervisor.diagnosis.ofSession(session, services),
  ]);
  const isBoxed = session.identity.launch.container !== null;
  const tried = layers.map((finding) => layerCheck(finding, isBoxed));
  return [process, ...login, ...checkWatching(context, session), ...tried];
}

/** A runtime that does not answer in time is unreachable, which is something else than a session that is gone. */
const PRESENCE_MS = 4_000;

async function checkProcess({ supervisor, clock }: OperationContext, session: Session): Promise<Check> {
  const what = session.identity.runtime;
  const late = new AbortController();
  try {
    const presence = await Promise.race([
      supervisor.runtime(what).observe(targetOf(session)),
      clock.sleep(PRESENCE_MS, late.signal).then(() => null),
    ]);
    if (presence === null)
      return plainCheck({ what, status: "problem", verdict: "unknown", detail: "It does not answer." });
    const { status, evidence } = presence;
    const isMissed = status !== "running" && !isEnded(session);
    const verdict = status === "unreachable" ? "unknown" : isMissed ? "down" : "healthy";
    return plainCheck({ what, status: isMissed ? "problem" : "ok", verdict, detail: `${status}: ${evidence}` });
  } catch (error) {
    return plainCheck({ what, status: "problem", verdict: "unknown", detail: messageOf(error) });
  } finally {
    late.abort();
  }
}

const LOGIN = {
  "logged-in": { status: "ok", verdict: "healthy", words: "logged in" },
  "logged-out": { status: "problem", verdict: "misconfigured", words: "not logged in" },
  unknown: { status: "warning", verdict: "unknown", words: "log-in unknown" },
} as const;

/** With the session's own environment: where that has gone, nothing can be said. */
async function checkLogin({ supervisor }: OperationContext, session: Session): Promise<readonly Check[]> {
  const { agent: name, runtime: kind, launch } = session.identity;
  const agent = supervisor.agent(name);
  const { readLogin } = agent;
  if (readLogin === undefined) return [];
  const runtime = supervisor.runtime(kind);
  const environment = await runtime.environmentOf(targetOf(session), session.process.place).catch(() => null);
  if (environment === null)
    return [
      plainCheck({
        what: `${name} log-in`,
        status: "warning",
        verdict: "unknown",
        detail: "It does not run, so its environment is not known.",
      }),
    ];
  const login = await withFiles(runtime.files, (read) => readLogin({ environment, launch, read }));
  const { status, verdict, words } = LOGIN[login.status];
  const advice = login.status === "logged-out" ? `Log in with: ${agent.program?.login ?? name}` : null;
  return [
    plainCheck({
      what: `${name} log-in`,
      status,
      verdict,
      detail: `${words} (${login.text})`,
      advice,
      login: login.status,
    }),
  ];
}

/** Whether its hooks, or its own protocol, have told anything: only that proves that they are installed and trusted. */
function checkWatching({ supervisor }: OperationContext, session: Session): readonly Check[] {
  if (!supervisor.agent(session.identity.agent).capabilities.turns || isEnded(session)) return [];
  const { lastWords, channel } = supervisor.testimony(session);
  const heard = lastWords.filter(({ source }) => source !== "screen");
  const words = heard.map(({ source, detail }) => `${source} (${detail})`).join(", ");
  const how = `${session.watch.mode}: ${session.watch.text}`;
  const what = "hooks";
  if (heard.length > 0 || channel === "open")
    return [
      plainCheck({
        what,
        status: "ok",
        verdict: "healthy",
        detail: `heard from ${words || "its own protocol"}; ${how}`,
      }),
    ];
  const advice = "If it has had a turn since, look at what its own dialogs ask: it may not have accepted its hooks.";
  return [
    plainCheck({
      what,
      status: "warning",
      verdict: "unknown",
      detail: `nothing was heard from it since Reeve's daemon started; ${how}`,
      advice,
    }),
  ];
}
