/**
 * How far a session may go on starting sessions: an agent that starts agents
 * which start agents must come to an end. The limits are settings; they bind
 * sessions, not the operator.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import type { Session } from "../session/session.ts";
import { isEnded } from "../session/session.ts";
import type { Registry } from "../store/contract.ts";
import type { OperationContext } from "./contract.ts";
import { forebears } from "./scope.ts";

/** Starts that are not recorded yet count too, by the first session of their family. */
const underWay = new WeakMap<Registry, Map<string, number>>();

export async function withinFamily<T>(context: OperationContext, start: () => Promise<T>): Promise<T> {
  const { caller, store, supervisor } = context;
  const own = caller.kind === "session" ? store.registry.get(caller.id) : undefined;
  if (own === undefined) return await start();
  const { mostDepth, mostDescendants } = supervisor.settings;
  const above = forebears(store.registry, own);
  const first = above.at(-1) ?? own;
  if (above.length + 1 > mostDepth)
    throw tooMany("too-deep", own, `it is ${mostDepth} starts away from the operator already`, "most_depth");
  const counts = underWay.get(store.registry) ?? new Map<string, number>();
  underWay.set(store.registry, counts);
  const pending = counts.get(first.id) ?? 0;
  if (livingBelow(store.registry, first.id) + pending >= mostDescendants)
    throw tooMany(
      "too-many-descendants",
      own,
      `${first.identity.name} and its descendants have ${mostDescendants} living ones already; end one first`,
      "most_descendants",
    );
  counts.set(first.id, pending + 1);
  try {
    return await start();
  } finally {
    counts.set(first.id, (counts.get(first.id) ?? 1) - 1);
  }
}

function livingBelow(registry: Registry, id: string): number {
  const found = new Set<string>([id]);
  let living = 0;
  for (const parent of found) {
    for (const child of registry.childrenOf(parent)) {
      if (found.has(child.id)) continue;
      found.add(child.id);
      if (!isEnded(child)) living += 1;
    }
  }
  return living;
}

function tooMany(code: string, { identity }: Session, why: string, setting: string): ReeveError {
  return new ReeveError({
    code,
    kind: "forbidden",
    message: `Session ${identity.name} may not start another session: ${why}. The operator can raise ${setting} in config.toml.`,
  });
}
