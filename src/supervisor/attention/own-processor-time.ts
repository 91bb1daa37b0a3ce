import type { Runtime } from "../../runtime/contract.ts";
import type { Session } from "../../session/session.ts";
import { targetOf } from "../ledger/target.ts";

/** What the agent itself has used, without what it runs; null where its runtime cannot tell. */
export async function ownProcessorMs(
  runtime: (kind: string) => Pick<Runtime, "vitals">,
  session: Session,
): Promise<number | null> {
  const asked = [{ target: targetOf(session), place: session.process.place }];
  const vitals = await runtime(session.identity.runtime).vitals(asked);
  const processes = vitals.reachable ? (vitals.entries[0]?.processes ?? []) : [];
  const own = processes.filter(({ isForeground }) => isForeground);
  return own.length === 0 ? null : own.reduce((ms, { cpuMs }) => ms + cpuMs, 0);
}
