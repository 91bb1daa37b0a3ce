/** Remembers a text for a project and a role. */
import * as z from "zod/mini";
import { type Memory, MEMORY_KINDS, MOST_TAGS, MOST_TEXT_BYTES } from "../memory/memory.ts";
import { projectOf } from "../memory/project.ts";
import { requireRoom } from "../platform/disk-room.ts";
import { memoryIdOf } from "../platform/ids.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { callerName } from "../session/caller.ts";
import type { Session } from "../session/session.ts";
import { defineOperation, type OperationContext } from "./contract.ts";
import { plainText } from "./field.ts";
import { idempotent } from "./idempotency.ts";
import { forbidden, memorySchema, ownScope, reachedMemory, roleField, tagField, viewMemory } from "./memory-view.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";

export const addMemory = defineOperation({
  name: "add_memory",
  summary:
    "Remember a text for later: for this project and role, or with scope project for every role. Secrets are taken out before it is written.",
  method: "POST",
  path: "/v1/memory",
  effect: "change",
  callers: { operator: "any", session: "self" },
  example: { text: "The parser tests need TZ=UTC.", tags: ["tests"], scope: "project" },
  names: ["session"],
  input: () =>
    z.object({
      text: z.string().check(z.minLength(1, "some text"), z.describe("What to remember, up to 64 KB.")),
      kind: z
        ._default(z.enum(MEMORY_KINDS), "note")
        .check(z.describe("prompt: what was asked. thought, response, or note for everything else.")),
      tags: z
        ._default(z.array(tagField).check(z.maxLength(MOST_TAGS)), [])
        .check(z.describe("Words to find it by, at most 16.")),
      scope: z
        ._default(z.enum(["role", "project"]), "role")
        .check(z.describe("role: for the session's role, or the one that is named. project: for every role.")),
      role: z.optional(roleField).check(z.describe("The role it is for; by default the session's, or every role.")),
      cwd: z
        .optional(plainText())
        .check(z.describe("A directory of the project; by default the session's. A session cannot choose another.")),
      session: z.optional(sessionReference).check(z.describe("The session that it is about; by default the caller's.")),
      turn: z
        .optional(z.int().check(z.minimum(0)))
        .check(z.meta({ description: "The turn of that session; by default the last one.", "x-unit": "turns" })),
      commit: z
        .optional(z.string().check(z.regex(/^[0-9a-f]{7,64}$/, "the id of a git commit")))
        .check(z.describe("The git commit that it is about.")),
    }),
  output: () => memorySchema,

  async run(input, context) {
    const { caller, clock, store, supervisor, idempotency } = context;
    const id = await idempotent(context, "add_memory", async (record) => {
      requireFitting(input.text);
      requireRoom(context.outputsDir);
      const session = aboutSession(context, input.session);
      const memory: Memory = {
        id: memoryIdOf(idempotency?.key ?? null),
        project: projectFor(context, session, input.cwd),
        role: roleFor(context, session, input),
        kind: input.kind,
        text: input.text,
        tags: [...new Set(input.tags)],
        sessionId: session?.id ?? null,
        turn: input.turn ?? session?.conversation.turns ?? null,
        commit: input.commit ?? null,
        by: callerName(caller),
        at: clock.now(),
      };
      await supervisor.memories.add(memory);
      // After it: a kill in between leaves a memory whose id follows from the key, so a repeat finds it.
      const seen = record(memory.id);
      if (seen !== undefined) await store.commit({ idempotency: seen });
      return memory.id;
    });
    return viewMemory(reachedMemory(context, id), true);
  },
});

function requireFitting(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MOST_TEXT_BYTES) return;
  throw new ReeveError({
    code: "memory-too-long",
    kind: "usage",
    message: `The text has ${bytes} bytes, and a memory takes at most ${MOST_TEXT_BYTES}; write it to a file of the project and remember where that is.`,
  });
}

function aboutSession({ caller, store }: OperationContext, named: string | undefined): Session | null {
  if (named !== undefined) return resolveSession(store.registry, named);
  return caller.kind === "session" ? (store.registry.get(caller.id) ?? null) : null;
}

function projectFor(context: OperationContext, session: Session | null, cwd: string | undefined): string {
  const own = ownScope(context)?.project;
  if (own !== undefined && own !== null) return own;
  const directory = session?.identity.launch.cwd ?? cwd;
  if (directory !== undefined) return projectOf(directory);
  throw new ReeveError({
    code: "missing-project",
    kind: "usage",
    message: "Say which project it is for: give cwd, a directory of it, or session.",
  });
}

function roleFor(
  context: OperationContext,
  session: Session | null,
  { role, scope }: { readonly role?: string | undefined; readonly scope: "role" | "project" },
): string | null {
  const own = ownScope(context)?.role ?? null;
  if (own !== null && role !== undefined && role !== own)
    throw forbidden(
      `This session's role is ${own}: it remembers for its own role, or with scope project for every role.`,
    );
  return scope === "project" ? null : (own ?? role ?? session?.identity.role ?? null);
}
