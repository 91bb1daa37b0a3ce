/** How a memory is shown, whose memories a caller reaches, and the fields that the operations share. */
import * as z from "zod/mini";
import { isWithin, type Memory, MEMORY_KINDS, type MemoryFilter, type MemoryScope } from "../memory/memory.ts";
import { projectName, projectOf } from "../memory/project.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { OperationContext } from "./contract.ts";
import { instant, plainText, text, textOrNull, yesOrNo, whenUsed } from "./field.ts";
import { safe } from "./mail-view.ts";
import { iso } from "./session-view.ts";

/** Of a list: a model reads twenty of them. One is read whole by its id. */
const SHOWN_CHARACTERS = 2_000;

export const memoryReference = z
  .string()
  .check(z.regex(/^memory-[a-z0-9]{10,16}$/, "the id of a memory"), z.describe("The id of a memory."));

export const roleField = z
  .string()
  .check(z.regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "lower-case letters, digits and dashes, at most 64"));

export const tagField = z
  .string()
  .check(z.regex(/^[\p{L}\p{N}][\p{L}\p{N}._:/-]{0,63}$/u, "letters, digits and . _ : / -, at most 64"));

export const memorySchema = whenUsed(() =>
  z
    .object({
      memory_id: text("Its id."),
      project: text("The repository, or the directory, that it is of."),
      role: textOrNull("The role that it is for; null: for every role of the project."),
      kind: z.enum(MEMORY_KINDS).check(z.describe("prompt, thought, response, or note for everything else.")),
      text: text("What is remembered. Secrets were taken out of it before it was written."),
      truncated: yesOrNo("Whether there is more of the text: ask list_memories for this one memory."),
      tags: z.array(z.string()).check(z.describe("Words to find it by.")),
      session_id: textOrNull("The session it is about, or that wrote it; null where there is none."),
      turn: z.nullable(z.int()).check(z.describe("The turn of that session; null where it is not known.")),
      commit: textOrNull("The git commit it is about; null where none was named."),
      by: text("Who wrote it: `operator`, or `session:` and the id of a session."),
      created_at: instant("When it was written."),
    })
    .register(z.globalRegistry, { id: "Memory", description: "Something that is remembered for a project." }),
);

export function viewMemory(memory: Memory, isWhole = false): z.infer<typeof memorySchema> {
  const whole = safe(memory.text);
  const isCut = !isWhole && whole.length > SHOWN_CHARACTERS;
  return {
    memory_id: memory.id,
    project: safe(projectName(memory.project)),
    role: memory.role,
    kind: memory.kind,
    text: isCut ? Array.from(whole).slice(0, SHOWN_CHARACTERS).join("") : whole,
    truncated: isCut,
    tags: memory.tags.map(safe),
    session_id: memory.sessionId,
    turn: memory.turn,
    commit: memory.commit,
    by: memory.by,
    created_at: iso(memory.at),
  };
}

/** What search and list are narrowed by. */
export const filterFields = {
  cwd: z
    .optional(plainText())
    .check(
      z.describe(
        "Only of the project that this directory belongs to; by default of all. A session always reaches its own project.",
      ),
    ),
  role: z
    .optional(roleField)
    .check(z.describe("Only of this role and what is for every role. A session reaches its own role.")),
  kind: z.optional(z.enum(MEMORY_KINDS)).check(z.describe("Only of this kind.")),
  tag: z.optional(tagField).check(z.describe("Only with this tag.")),
};

interface Narrowed {
  readonly cwd?: string | undefined;
  readonly role?: string | undefined;
  readonly kind?: MemoryFilter["kind"] | undefined;
  readonly tag?: string | undefined;
}

export function filterOf(context: OperationContext, { cwd, role, kind, tag }: Narrowed): MemoryFilter {
  const own = ownScope(context);
  if (own !== null && role !== undefined && role !== own.role)
    throw forbidden(`This session's role is ${own.role}: it reaches what is for its own role and for every role.`);
  const scope = own ?? { project: cwd === undefined ? null : projectOf(cwd), role: role ?? null };
  return { ...scope, kind: kind ?? null, tag: tag ?? null };
}

/** What a session reaches; null: everything, for the operator. */
export function ownScope({ caller, store }: OperationContext): MemoryScope | null {
  if (caller.kind !== "session") return null;
  const session = store.registry.get(caller.id);
  if (session === undefined) throw forbidden("There is no session that this call could be of.");
  return { project: projectOf(session.identity.launch.cwd), role: session.identity.role };
}

/** The memory; one that the caller does not reach is refused. */
export function reachedMemory(context: OperationContext, id: string): Memory {
  const memory = context.supervisor.memories.get(id);
  if (memory === undefined)
    throw new ReeveError({
      code: "unknown-memory",
      kind: "not-found",
      message: `There is no memory ${id}; see reeve memory list.`,
    });
  const own = ownScope(context);
  if (own !== null && !isWithin(memory, own))
    throw forbidden(`${id} is of another project or role; a session reaches its own, the operator all.`);
  return memory;
}

export function forbidden(message: string): ReeveError {
  return new ReeveError({ code: "not-allowed", kind: "forbidden", message });
}
