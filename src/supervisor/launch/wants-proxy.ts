/** Whether a session reaches its model by the capture proxy: to be recorded, or because it has no other way out. */
import type { Launch } from "../../session/session.ts";

export function wantsProxy({ persistence, container }: Pick<Launch, "persistence" | "container">): boolean {
  return persistence?.capture === "proxy" || container?.network === "proxy";
}
