/**
 * What a session that is started by another would inherit of that one's
 * capture: addresses of the proxy, which would put its traffic into the other's
 * log, and directories of the other's own. The first are replaced by where they
 * lead, the others left out.
 */
import { nativeDirOf } from "../../session/session-directory.ts";
import type { Session } from "../../session/session.ts";

export type Inherited = Readonly<Record<string, string | undefined>>;

const ADDRESS = /^http:\/\/127\.0\.0\.1:\d+\/([A-Za-z0-9_-]{43})\/([^/]+)$/;

export function withoutCapture(
  environment: Inherited,
  parts: {
    readonly sessions: () => Iterable<Session>;
    readonly routeKey: (sessionId: string) => string;
    readonly outputsRoot: string;
  },
): Inherited {
  const entries = Object.entries(environment).flatMap(([name, value = ""]) => {
    const [, key, upstream] = ADDRESS.exec(value) ?? [];
    if (key !== undefined && upstream !== undefined) {
      const whose = [...parts.sessions()].find(({ id }) => parts.routeKey(id) === key);
      const leadsTo = whose?.watch.capture?.upstreams[upstream];
      return leadsTo === undefined ? [] : [[name, leadsTo] as const];
    }
    const path = value.replace(/^file:/, "");
    const isNative = path.startsWith(`${parts.outputsRoot}/`) && path === nativeDirOf(path.replace(/\/[^/]*$/, ""));
    return isNative ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}
