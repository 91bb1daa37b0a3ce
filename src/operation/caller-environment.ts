/**
 * The environment that a caller brings for a session that it starts. Agents
 * hide variables from what they run: Codex gives an MCP server hardly any, and
 * Gemini CLI none that looks like a key. A worker would then start without its
 * log-in. So where a session calls, the process of that session is asked, and
 * what the caller itself brought comes on top.
 */
import type { Caller } from "../session/caller.ts";
import type { Store } from "../store/contract.ts";
import { targetOf } from "../supervisor/ledger/target.ts";
import type { Supervisor } from "../supervisor/contract.ts";

type Variables = Readonly<Record<string, string | undefined>>;

export async function broughtBy(
  caller: Caller,
  given: Variables,
  { store, supervisor }: { readonly store: Store; readonly supervisor: Pick<Supervisor, "runtime"> },
): Promise<Variables> {
  const session = caller.kind === "session" ? store.registry.get(caller.id) : undefined;
  if (session === undefined) return given;
  const own = await supervisor
    .runtime(session.identity.runtime)
    .environmentOf(targetOf(session), session.process.place)
    // What it brought itself is then all there is.
    .catch(() => null);
  return { ...own, ...given };
}
