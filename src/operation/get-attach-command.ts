import * as z from "zod/mini";
import { ReeveError } from "../platform/reeve-error.ts";
import { targetOf } from "../supervisor/ledger/target.ts";
import { defineOperation } from "./contract.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";

/** Names of keys only: they stand in a command line. */
const TAKEN_KEY = /^[A-Za-z0-9^_-]{1,16}=(?:[A-Za-z0-9^_-]{1,16}(?: [A-Za-z0-9^_-]{1,16}){0,3})?$/;

const takenKeys = z.pipe(
  z.transform((value: unknown) => (value === undefined ? [] : Array.isArray(value) ? value : [value])),
  z.array(z.string().check(z.regex(TAKEN_KEY, "A taken key is KEY=KEYS, such as C-b=C-b C-b"))),
);

export const getAttachCommand = defineOperation({
  name: "get_attach_command",
  summary: "What to run in a terminal to be in the session.",
  method: "GET",
  path: "/v1/sessions/{session}/attach",
  effect: "read",
  callers: { operator: "any", session: "none" },
  names: ["session"],
  input: z.object({
    session: sessionReference,
    /** Keys that the caller's terminal keeps for itself, as `KEY=what passes it on`, or `KEY=` where nothing does. */
    taken: takenKeys,
    /** To look only: nothing that is typed reaches the session. */
    read_only: z._default(z.stringbool(), false),
  }),
  output: z.object({
    session_id: z.string(),
    argv: z.array(z.string()),
    /** The keys that leave the session running, in that terminal; null where none would arrive. */
    detach: z.nullable(z.string()),
  }),

  async run(input, { store, supervisor }) {
    const session = resolveSession(store.registry, input.session);
    if (session.exit !== null || session.place === null) {
      throw new ReeveError({
        code: "not-running",
        kind: "conflict",
        message: `Session ${session.name} has no process to attach to; see reeve data ${session.name}.`,
      });
    }
    const runtime = supervisor.runtime(session.runtime);
    if (!runtime.capabilities.attach) {
      throw new ReeveError({
        code: "not-attachable",
        kind: "conflict",
        message: `Session ${session.name} runs on ${session.runtime}, which has no terminal to attach to; see reeve data ${session.name}.`,
      });
    }
    const taken = Object.fromEntries(input.taken.map(keyOf));
    const { argv, detach } = await runtime.attachCommand(targetOf(session), taken, {
      isReadOnly: input.read_only,
    });
    return { session_id: session.id, argv: [...argv], detach };
  },
});

function keyOf(text: string): [string, string | null] {
  const [key = "", pass = ""] = text.split("=", 2);
  return [key, pass === "" ? null : pass];
}
