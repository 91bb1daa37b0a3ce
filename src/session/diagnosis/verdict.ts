/**
 * What is wrong, from what was tried by two routes: by Reeve itself (`native`), and where the session lives, in the sandbox
 * and with the environment of its agent (`session`). What fails there is tried once more with the same environment and
 * without the sandbox (`escalated`). A service is down only if nobody reaches it. Pure.
 */
import type { ProbeGround, ProbeOutcome, ProbeRequest } from "../../platform/probe.ts";

export type RouteName = "native" | "session" | "escalated";

export interface RouteOutcome extends ProbeOutcome {
  readonly route: RouteName;
}

export type Verdict = "healthy" | "sandbox-artefact" | "down" | "misconfigured" | "unknown";

export interface Finding {
  readonly verdict: Verdict;
  /** What of the sandbox or the environment is in the way; null where nothing is, or that is not known. */
  readonly mechanism: string | null;
  /** For people, in whole sentences. */
  readonly text: string;
}

export interface Tried {
  /** What it is called, as the subject of a sentence. */
  readonly what: string;
  readonly request: ProbeRequest;
  readonly native: ProbeOutcome;
  /** Null: there is no session to look from, so that what Reeve itself sees counts. */
  readonly session: ProbeOutcome | null;
  /** Null: not tried, because it was not needed or cannot be done there. */
  readonly escalated: ProbeOutcome | null;
  readonly grounds: Grounds;
}

export interface Grounds {
  readonly native: ProbeGround;
  /** Null: not known. */
  readonly session: ProbeGround | null;
  /** Whether the session is in a container. */
  readonly isBoxed: boolean;
  /** Variables that Reeve has and the session has not, of those that programs find their way by. */
  readonly missingVariables: readonly string[];
}

export function verdictOf(tried: Tried): Finding {
  const { what, native, session, escalated } = tried;
  if (session === null) return withoutSession(what, native);
  if (session.status === "reached") {
    if (native.status !== "failed" || isOfItsOwn(tried))
      return { verdict: "healthy", mechanism: null, text: `${what}: ${session.text}.` };
    return {
      verdict: "misconfigured",
      mechanism: "the native route",
      text: `The session reaches it, and Reeve itself does not (${native.text}). Look at where Reeve's daemon runs and at its environment, not at the service.`,
    };
  }
  if (session.status === "untried") return unlooked(native, session);
  return hindered(tried, session, escalated);
}

function withoutSession(what: string, native: ProbeOutcome): Finding {
  if (native.status === "reached") return { verdict: "healthy", mechanism: null, text: `${what}: ${native.text}.` };
  if (native.status === "untried") return { verdict: "unknown", mechanism: null, text: `${native.text}.` };
  return broken([native], `${native.text}.`);
}

/** Nobody could look from inside. */
function unlooked(native: ProbeOutcome, session: ProbeOutcome): Finding {
  const seen = {
    reached: `Reeve itself reaches it (${native.text})`,
    failed: `Reeve itself does not reach it (${native.text})`,
    untried: `Reeve itself did not try it (${native.text})`,
  }[native.status];
  return { verdict: "unknown", mechanism: null, text: `${seen}; from the session it was not tried: ${session.text}.` };
}

function hindered(tried: Tried, session: ProbeOutcome, escalated: ProbeOutcome | null): Finding {
  const { native } = tried;
  const isThere = native.status === "reached" || escalated?.status === "reached";
  if (isThere) {
    const cause = mechanismOf(tried, session);
    const others =
      native.status === "reached" ? "Reeve itself reaches it" : "the same request outside the sandbox succeeds";
    const own = native.status === "failed" ? ` Reeve itself does not reach it either (${native.text}).` : "";
    if (cause === null && escalated?.status !== "reached" && escalated !== null)
      return {
        verdict: "misconfigured",
        mechanism: "the session's environment",
        text: `${others}, but with the session's environment it fails (${escalated.text}).${own}`,
      };
    return {
      verdict: "sandbox-artefact",
      mechanism: cause,
      text: `It works: ${others}. Inside the session it fails (${session.text}); what is in the way: ${cause ?? "not known"}.${own}`,
    };
  }
  if (native.status === "untried")
    return {
      verdict: "unknown",
      mechanism: null,
      text: `It fails inside the session (${session.text}); outside nobody could try it: ${native.text}.`,
    };
  if (escalated === null)
    return {
      verdict: "unknown",
      mechanism: null,
      text: `It fails here (${native.text}) and inside the session (${session.text}); outside the sandbox, with the session's environment, it was not tried.`,
    };
  return broken(
    [native, escalated],
    `It fails here (${native.text}) and with the session's environment (${escalated.text}).`,
  );
}

/** Something answers, but not what was asked for. */
const WRONG = /^(?:http 4\d\d|exit 4|bad-address|EACCES|ENOTDIR)$/;

function broken(outcomes: readonly ProbeOutcome[], text: string): Finding {
  const isWrong = outcomes.some(({ code }) => code !== null && WRONG.test(code));
  return { verdict: isWrong ? "misconfigured" : "down", mechanism: null, text };
}

/** Of what is in the way inside: the first that explains it. */
function mechanismOf({ request, grounds }: Tried, { code }: ProbeOutcome): string | null {
  const { session, missingVariables } = grounds;
  const usesNetwork = request.kind !== "socket" && request.kind !== "write";
  if (usesNetwork && isApart(grounds)) return "network namespace";
  if (code === "EROFS") return "read-only mount";
  if (code === "ENOENT" && (request.kind === "socket" || request.kind === "write")) return "missing mount";
  if ((code === "EPERM" || code === "EACCES") && session?.isFiltered === true) return "seccomp";
  if (code === "EPERM" || code === "EACCES") return "permissions";
  const [variable] = missingVariables;
  return variable === undefined ? null : `missing variable ${missingVariables.join(", ")}`;
}

function isApart({ native, session }: Grounds): boolean {
  const own = session?.netNamespace ?? null;
  return own !== null && own !== native.netNamespace;
}

/** On the loopback of its container, which nobody else can reach. Elsewhere the one apart may as well be the daemon. */
function isOfItsOwn({ request, grounds }: Tried): boolean {
  if (request.kind !== "http" && request.kind !== "tcp") return false;
  const host = request.kind === "tcp" ? request.host : new URL(request.url).hostname;
  return grounds.isBoxed && isApart(grounds) && /^(?:localhost|127\.[\d.]+|\[?::1\]?)$/.test(host);
}
