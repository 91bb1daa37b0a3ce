/**
 * Who calls, as the environment tells: a program in a session calls as that session, and never as the operator of the
 * Reeve that the session belongs to.
 */
import { readFileSync, statSync } from "node:fs";
import type { Home } from "../platform/home.ts";
import { PASS_VARIABLE, SOCKET_VARIABLE } from "../platform/pass.ts";
import { ReeveError } from "../platform/reeve-error.ts";

/** As runtime/contract.ts writes it: `<home>.<session>.<incarnation>`. */
const MARK_VARIABLE = "REEVE_MARK";
const SESSION_VARIABLE = "REEVE_SESSION_ID";

type Environment = Readonly<Record<string, string | undefined>>;

export interface Caller {
  readonly socketPath: string;
  readonly pass?: string;
}

/** `isNamed`: whoever calls chose this home by REEVE_HOME. */
export function callerIn(environment: Environment, home: Home, isNamed: boolean): Caller {
  const { [PASS_VARIABLE]: pass = "", [SOCKET_VARIABLE]: socket = "", [SESSION_VARIABLE]: session = "" } = environment;
  if (pass !== "" && socket !== "") {
    if (isNamed && !isSame(socket, home.sessionSocketPath)) throw otherHome(session, home);
    return { socketPath: socket, pass };
  }
  if (session !== "") throw withoutPass(session);
  // Whoever removes the other variables for a call to another Reeve is not of that one.
  const [instance = "", markedAs = ""] = (environment[MARK_VARIABLE] ?? "").split(".");
  if (instance !== "" && instance === instanceOf(home)) throw withoutPass(markedAs);
  return { socketPath: home.socketPath };
}

/** Also by another name of its directory. */
function isSame(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    const [a, b] = [statSync(one), statSync(other)];
    return a.dev === b.dev && a.ino === b.ino;
  } catch {
    return false;
  }
}

/** Null where there was never a Reeve. */
function instanceOf({ instancePath }: Home): string | null {
  try {
    return readFileSync(instancePath, "utf8").trim();
  } catch {
    return null;
  }
}

function otherHome(session: string, { stateDir }: Home): ReeveError {
  return new ReeveError({
    code: "other-home",
    kind: "usage",
    message: `REEVE_HOME names ${stateDir}, but this runs in session ${session} of another home; unset REEVE_HOME to call the session's own, or unset ${PASS_VARIABLE}, ${SOCKET_VARIABLE} and ${SESSION_VARIABLE} to call the one in REEVE_HOME.`,
  });
}

function withoutPass(session: string): ReeveError {
  return new ReeveError({
    code: "no-pass",
    kind: "forbidden",
    message: `This runs in session ${session}, but the session's ${PASS_VARIABLE} and ${SOCKET_VARIABLE} are not in the environment; let them through, or call Reeve from outside the session.`,
  });
}
