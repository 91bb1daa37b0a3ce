/** The item of work that a session is started for: what the call does not say, the item does. */
import { promptOf } from "../fleet/work-prompt.ts";
import { requireFitting } from "../fleet/work-worker.ts";
import type { WorkItem } from "../fleet/work.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { OperationContext } from "./contract.ts";
import { resolveWork } from "./work-reference.ts";

interface Asked {
  readonly agent?: string | undefined;
  readonly role?: string | undefined;
  readonly cwd?: string | undefined;
  readonly branch?: string | undefined;
  readonly prompt?: string | undefined;
  readonly resume?: string | undefined;
  readonly work?: string | undefined;
}

/** What is asked, with what the item adds to it. */
export async function withWork<Input extends Asked>(
  { supervisor }: OperationContext,
  input: Input,
): Promise<{ readonly input: Omit<Input, "agent" | "role" | "cwd"> & Whole; readonly item: WorkItem | null }> {
  const item = input.work === undefined ? null : await resolveWork(supervisor, input.work);
  const agent = input.agent ?? item?.agent ?? missing("agent", "what to run, such as claude", item);
  const cwd = input.cwd ?? item?.cwd ?? missing("cwd", "the directory to start it in", item);
  const branch = input.branch ?? item?.branch ?? undefined;
  // A plain program takes no prompt: its arguments say what it does.
  const isTold = item !== null && input.prompt === undefined && supervisor.agent(agent).capabilities.turns;
  return {
    input: {
      ...input,
      agent,
      cwd,
      role: input.role ?? item?.role ?? "agent",
      ...(branch === undefined ? {} : { branch }),
      ...(isTold ? { prompt: promptOf(item) } : {}),
    },
    item,
  };
}

interface Whole {
  readonly agent: string;
  readonly role: string;
  readonly cwd: string;
}

/** Before anything is made for it: the commit that gives it the item asks once more. */
export async function requireGivable(
  { supervisor }: OperationContext,
  item: WorkItem,
  { agent, role, branch }: Whole & { readonly branch?: string | undefined },
): Promise<void> {
  requireFitting(item, { agent, role, branch: branch ?? item.branch });
  await supervisor.work.requireGivable(item, { agent, role });
}

function missing(field: "agent" | "cwd", what: string, item: WorkItem | null): never {
  throw new ReeveError({
    code: "bad-request",
    kind: "usage",
    message:
      item === null
        ? `${field} is missing; it must be ${what}.`
        : `${item.id} does not say ${what}; give it with ${field === "cwd" ? "--cwd" : "the start"}.`,
    details: { field },
  });
}
