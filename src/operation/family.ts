/**
 * How far a session may go on bringing sessions to life: an agent that starts
 * agents which start agents must come to an end. Counted is the tree below the
 * first session of the family, whichever session of it asks, and whether it
 * starts a new one or an ended one again. The limits are settings; they bind
 * sessions, not the operator.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import type { Session } from "../session/session.ts";
import { isEnded } from "../session/session.ts";
import type { Registry } from "../store/contract.ts";
import type { OperationContext } from "./contract.ts";
import { forebears } from "./scope.ts";

/** What is not recorded yet counts too, by the first session of its family. */
const underWay = new WeakMap<Registry, Map<string, number>>();

/** A new session below this one; without a parent it is the operator's. */
export async function withinFamily<T>(
  context: OperationContext,
  parentId: string | null,
  start: () => Promise<T>,
): Promise<T> {
  const { caller, store, supervisor } = context;
  const parent = parentId === null ? undefined : store.registry.get(parentId);
  if (caller.kind !== "session" || parent === undefined) return await start();
  const { mostDepth } = supervisor.settings;
  if (forebears(store.registry, parent).length + 1 > mostDepth)
    throw tooMany(
      "too-deep",
      caller.id,
      context,
      `${parent.identity.name}, below which it would be, is ${mostDepth} starts away from the operator already`,
      "most_depth",
    );
  return await withRoomBelow(context, parent, start);
}

/** One that was there before, started again: it takes room only if it had ended. */
export async function againInFamily<T>(
  context: OperationContext,
  session: Session,
  start: () => Promise<T>,
): Promise<T> {
  const parent = forebears(context.store.registry, session)[0];
  if (context.caller.kind !== "session" || parent === undefined || !isEnded(session)) return await start();
  return await withRoomBelow(context, parent, start);
}

async function withRoomBelow<T>(context: OperationContext, parent: Session, start: () => Promise<T>): Promise<T> {
  const { caller, store, supervisor } = context;
  const { mostDescendants } = supervisor.settings;
  const first = forebears(store.registry, parent).at(-1) ?? parent;
  const counts = underWay.get(store.registry) ?? new Map<string, number>();
  underWay.set(store.registry, counts);
  const pending = counts.get(first.id) ?? 0;
  if (livingBelow(store.registry, first.id) + pending >= mostDescendants)
    throw tooMany(
      "too-many-descendants",
      caller.kind === "session" ? caller.id : first.id,
      context,
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

function tooMany(
  code: string,
  callerId: string,
  { store }: OperationContext,
  why: string,
  setting: string,
): ReeveError {
  const name = store.registry.get(callerId)?.identity.name ?? callerId;
  return new ReeveError({
    code,
    kind: "forbidden",
    message: `Session ${name} may not start another session: ${why}. The operator can raise ${setting} in config.toml.`,
  });
}
