import * as z from "zod/mini";
import { ReeveError } from "../platform/reeve-error.ts";
import { targetOf } from "../supervisor/ledger/target.ts";
import { defineOperation } from "./contract.ts";
import { text, textOrNull } from "./field.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";

/** Names of keys only: they stand in a command line. */
const TAKEN_KEY = /^[A-Za-z0-9^_-]{1,16}=(?:[A-Za-z0-9^_-]{1,16}(?: [A-Za-z0-9^_-]{1,16}){0,3})?$/;

const takenKey = z.string().check(z.regex(TAKEN_KEY, "KEY=KEYS, such as C-b=C-b C-b"));

export const getAttachCommand = defineOperation({
  name: "get_attach_command",
  summary: "Show what to run in a terminal to enter the session.",
  method: "GET",
  path: "/v1/sessions/{session}/attach",
  effect: "read",
  callers: { operator: "any", session: "none" },
  example: { session: "fix" },
  names: ["session"],
  input: () =>
    z.object({
      session: sessionReference,
      taken: z
        ._default(z.array(takenKey), [])
        .check(
          z.describe(
            "Keys that your terminal keeps for itself (the prefix of a tmux, for example): `KEY=KEYS` with the keys that pass it on, or `KEY=` where nothing does.",
          ),
        ),
      read_only: z
        ._default(z.boolean(), false)
        .check(z.describe("To look only: nothing that is typed there reaches the session.")),
    }),
  output: () =>
    z.object({
      session_id: text("The session."),
      argv: z.array(z.string()).check(z.describe("The program to run in your terminal, and its arguments.")),
      detach: textOrNull("The keys that leave the session and let it run on; null where none would arrive."),
    }),

  async run(input, { store, supervisor }) {
    const session = resolveSession(store.registry, input.session);
    if (session.process.exit !== null || session.process.place === null) {
      throw new ReeveError({
        code: "not-running",
        kind: "conflict",
        message: `Session ${session.identity.name} has no process to attach to; see reeve data ${session.identity.name}.`,
      });
    }
    const runtime = supervisor.runtime(session.identity.runtime);
    if (!runtime.capabilities.attach) {
      throw new ReeveError({
        code: "not-attachable",
        kind: "conflict",
        message: `Session ${session.identity.name} runs on ${session.identity.runtime}, which has no terminal to attach to; see reeve data ${session.identity.name}.`,
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
