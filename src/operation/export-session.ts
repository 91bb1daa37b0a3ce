/** Writes one archive with everything about a session, and notes that it was taken away. The session is as it was. */
import { isAbsolute } from "node:path";
import * as z from "zod/mini";
import { redact } from "../capture/redaction.ts";
import { removeAbandoned } from "../platform/unfinished-file.ts";
import { writeArchive } from "../supervisor/story/write-archive.ts";
import { defineOperation, type OperationContext } from "./contract.ts";
import { count, plainText, seconds, text } from "./field.ts";
import { idempotent, type RecordFor } from "./idempotency.ts";
import { safe, viewMail } from "./mail-view.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { viewSession } from "./session-view.ts";
import { storyOf } from "./story-view.ts";

export const exportSession = defineOperation({
  name: "export_session",
  summary:
    "Write an archive (tar.gz) with everything about a session: its files, events, mail and story, a report that opens in a browser, and checksums. Also of a session that runs.",
  method: "POST",
  path: "/v1/sessions/{session}/export",
  effect: "change",
  callers: { operator: "any", session: "none" },
  example: { session: "fix", output: "/home/you/fix.tar.gz" },
  names: ["session"],
  input: () =>
    z.object({
      session: sessionReference,
      output: plainText().check(
        z.refine(isAbsolute, "an absolute path"),
        z.describe("Where the archive goes: an absolute path at which there is no file yet."),
      ),
      timeout_seconds: z
        ._default(seconds(36_000), 3_600)
        .check(z.describe("How long it may take before it is given up.")),
    }),
  output: () =>
    z.object({
      session_id: text("The session."),
      output: text("The archive."),
      bytes: count("How large it is."),
      files: count("How many files are in it."),
      left_out: z.array(z.string()).check(z.describe("What is not in it, one sentence each.")),
    }),

  async run({ session: reference, output, timeout_seconds: limit }, context) {
    const { id } = resolveSession(context.store.registry, reference);
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(Math.max(1, limit * 1_000))]);
    const answer = await idempotent(context, "export_session", (record) =>
      context.supervisor.exports.run(id, () => write(id, output, { ...context, signal }, record)),
    );
    // Of a repeated request the first one's daemon may have been killed, and left something.
    await removeAbandoned(output).catch(() => undefined);
    return JSON.parse(answer) as Answer;
  },
});

interface Answer {
  readonly session_id: string;
  readonly output: string;
  readonly bytes: number;
  readonly files: number;
  readonly left_out: string[];
}

/** Gives the answer, as it is kept for a repeated request. */
async function write(id: string, output: string, context: OperationContext, record: RecordFor): Promise<string> {
  const { store, supervisor, clock, daemon, caller, signal } = context;
  const session = resolveSession(store.registry, id);
  const { story, events, mails, secrets } = await storyOf(context, session);
  let answer = "";
  const parts = {
    session,
    files: supervisor.runtime(session.identity.runtime).files,
    secrets,
    story,
    view: viewSession(session, supervisor.about(session)),
    events,
    mails: mails.map((mail) => ({ ...viewMail(store.registry, mail), body: redact(safe(mail.body), secrets) })),
    reeveVersion: daemon.version,
    now: clock.now(),
    signal,
  };
  await writeArchive(output, parts, async ({ bytes, manifest }) => {
    const files = manifest.files.length + 1;
    answer = JSON.stringify({
      session_id: id,
      output,
      bytes,
      files,
      left_out: [...manifest.left_out],
    } satisfies Answer);
    await supervisor.submit(id, { type: "exported", bytes }, { caller, idempotency: record(answer) });
  });
  return answer;
}
