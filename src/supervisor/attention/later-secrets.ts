/**
 * The secrets of a session, also after its end, when nobody can ask its process
 * any more: then those of its files, as they are now, and those that the
 * daemon's own environment has. A value that was given on a command line alone
 * is not known any more; secrets of a well-known form are found without it.
 */
import type { Session } from "../../session/session.ts";
import { secretsOfLaunch } from "../launch/environment.ts";
import type { SessionSecrets } from "./session-secrets.ts";

export async function secretsFor(
  session: Session,
  secrets: Pick<SessionSecrets, "learn">,
  ownEnvironment: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const told = await secrets.learn(session.id).catch(() => null);
  const own = Object.entries(ownEnvironment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  const known = told ?? secretsOfLaunch(session.identity.launch, Object.fromEntries(own));
  return known.map(({ value }) => value);
}
