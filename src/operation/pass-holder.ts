/** Whose pass it is: how a surface learns which session calls. */
import { hashOfPass } from "../platform/pass.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Caller } from "../session/caller.ts";
import type { Registry } from "../store/contract.ts";

export type PassHolder = (pass: string) => Caller;

export function passHolderIn(registry: Registry): PassHolder {
  return (pass) => {
    const hash = hashOfPass(pass);
    const holder = registry.living().find(({ process }) => process.passes.some((known) => known.hash === hash));
    if (holder !== undefined) return { kind: "session", id: holder.id };
    throw new ReeveError({
      code: "unknown-pass",
      kind: "forbidden",
      message:
        "This pass is of no session that lives: it ended, or was started again with another. Use the REEVE_PASS of the session that calls.",
    });
  };
}
