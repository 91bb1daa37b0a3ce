/** Whether everything is kept of a session, and how: what its start says counts before its role, its agent and `[sessions]`. */
import { isAbsolute, relative, resolve, sep } from "node:path";
import type { Agent } from "../../agent/contract.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Container } from "../../session/container.ts";
import type { Capture, Persistence } from "../../session/persistence.ts";
import { isReserved } from "../../session/session-directory.ts";
import type { Settings } from "./settings.ts";

interface Start {
  readonly agent: string;
  readonly role?: string | undefined;
  readonly persist_session?: boolean | undefined;
  readonly capture?: "native" | "proxy" | undefined;
  readonly debug_log?: string | undefined;
}

export function chosenPersistence(
  start: Start,
  agent: Pick<Agent, "captures">,
  where: {
    readonly settings: Pick<Settings, "persistSession" | "roles" | "agents">;
    readonly sessionDir: string;
    /** Of its container; null where it has none. */
    readonly network: Container["network"] | null;
  },
): Persistence | null {
  const { persistSession, roles, agents } = where.settings;
  const isOn =
    start.persist_session ??
    roles[start.role ?? ""]?.persistSession ??
    agents[start.agent]?.persistSession ??
    persistSession;
  if (!isOn) {
    const left = start.capture === undefined ? (start.debug_log === undefined ? null : "debug-log") : "capture";
    if (left !== null)
      throw misused("needs-persist-session", `--${left} belongs to --persist-session; add that, or leave it out.`);
    return null;
  }
  return { capture: captureOf(start, agent, where.network), debugLog: debugLogOf(start.debug_log, where.sessionDir) };
}

/** Native changes nothing in the agent; a proxy may, but is better than no traffic at all. */
function captureOf(
  { agent: name, capture }: Start,
  { captures }: Pick<Agent, "captures">,
  network: Container["network"] | null,
): Capture {
  if (network === "proxy") {
    if (capture !== "native") return "proxy";
    throw misused(
      "capture-unavailable",
      "With --network proxy all traffic passes Reeve's proxy, which records it; leave --capture out, or use --network full.",
    );
  }
  if (network === "none" && capture === "proxy")
    throw misused(
      "capture-unavailable",
      "With --network none there is no way to a model; use --network proxy instead of --capture proxy.",
    );
  if (capture !== undefined && captures?.[capture] !== true) {
    const other = capture === "native" ? "proxy" : "native";
    const instead =
      captures?.[other] === true ? `give --capture ${other}, or leave --capture out` : "leave --capture out";
    throw misused(
      "capture-unavailable",
      `Model traffic of ${name} cannot be captured with --capture ${capture}; ${instead}.`,
    );
  }
  if (capture !== undefined) return capture;
  return captures?.native === true ? "native" : captures?.proxy === true && network !== "none" ? "proxy" : "none";
}

function debugLogOf(given: string | undefined, sessionDir: string): string | null {
  if (given === undefined) return null;
  const path = resolve(sessionDir, given);
  const [first = "", ...more] = relative(sessionDir, path).split(sep);
  const isInside = first !== ".." && first !== "" && !isAbsolute(first);
  if (given === "" || given.endsWith("/") || path === sessionDir || (!isAbsolute(given) && !isInside))
    throw misused(
      "bad-debug-log",
      `--debug-log takes a file, in the session's directory or by its full path, not "${given}"; give for example --debug-log debug.log.`,
    );
  if (isInside && isReserved(first))
    throw misused(
      "bad-debug-log",
      `Reeve keeps ${[first, ...more].join("/")} in the session's directory itself; give another name with --debug-log.`,
    );
  return path;
}

function misused(code: string, message: string): ReeveError {
  return new ReeveError({ code, kind: "usage", message });
}
