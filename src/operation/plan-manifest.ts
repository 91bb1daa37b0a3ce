/**
 * Compares a manifest with the sessions that it made, and says what must be
 * done so that they are as it says. Everything is checked first, for all
 * sessions, and all mistakes are told at once. Nothing is changed: whoever asks
 * carries out the steps with start_session, restart_session and end_session.
 */
import { isAbsolute } from "node:path";
import * as z from "zod/mini";
import { flatten } from "../capture/flat-text.ts";
import { shapedSpans } from "../capture/secret-shape.ts";
import { recordedSpec, type Step, STEP_ACTIONS, stepsOf } from "../fleet/manifest-plan.ts";
import { type Manifest, type ManifestSession, type Mistake, readManifest } from "../fleet/manifest.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { isEnded } from "../session/session.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { environment, plainText, text, textOrNull, yesOrNo, whenUsed } from "./field.ts";
import { checkMistaken, checkSession, mistakeOf } from "./manifest-check.ts";
import { sharedPlaces } from "./manifest-checkout.ts";
import { claimed, holderOf } from "./manifest-claim.ts";
import { manifestStart, type ManifestStart, startOf } from "./manifest-start.ts";
import { requireReady } from "./require-ready.ts";

const LARGEST_MANIFEST = 1_048_576;

const stepSchema = whenUsed(() =>
  z
    .object({
      id: text("The session's id in the manifest."),
      action: z
        .enum(STEP_ACTIONS)
        .check(
          z.describe(
            "start: it does not run. replace: end it, then start it. bring-back: restart it. keep: nothing. remove: it is not in the manifest any more; end it if you mean to.",
          ),
        ),
      session_id: textOrNull("The session that is there; null where there is none."),
      name: textOrNull("What that session is called now; null where there is none."),
      why: text("Why, in a sentence."),
      changes: z
        .array(
          z.object({
            key: text("The key of the manifest."),
            before: z
              .unknown()
              .check(z.describe("What it was when the session was started; null: nothing, or not shown.")),
            after: z.unknown().check(z.describe("What it is in the file; null: nothing, or not shown.")),
          }),
        )
        .check(z.describe("What the file says otherwise than when the session was started.")),
      start: z
        .nullable(manifestStart)
        .check(z.describe("For start and replace: the input of `start_session`, to which you add your environment.")),
    })
    .register(z.globalRegistry, {
      id: "ManifestStep",
      description: "What is to be done about one session of a manifest.",
    }),
);

export const planManifest = defineOperation({
  name: "plan_manifest",
  summary: "Check a manifest, and say what to start, replace, bring back or end so that it holds. Nothing changes.",
  method: "POST",
  path: "/v1/manifest/plan",
  effect: "read",
  callers: { operator: "any", session: "none" },
  example: {
    file: "/home/me/shop/reeve.toml",
    text: '[[sessions]]\nid = "dev"\nagent = "command"\ncommand = ["make", "run"]\nbranch = "main"\n',
  },
  names: [],
  input: () =>
    z.object({
      file: plainText().check(
        z.refine((given) => isAbsolute(given), "an absolute path"),
        z.describe(
          "Where the manifest is, without links: its sessions are known by it, and paths in it are relative to it.",
        ),
      ),
      text: z.string().check(z.maxLength(LARGEST_MANIFEST), z.describe("What is in it.")),
      prune: z
        ._default(z.boolean(), false)
        .check(
          z.describe(
            "Whether sessions that are no longer in it are ended first, so that nothing has to share with them.",
          ),
        ),
      environment: z._default(environment, {}).check(
        z.meta({
          description: "Your whole environment: programs are looked for with it. It is not stored.",
          writeOnly: true,
        }),
      ),
    }),
  output: () =>
    z.object({
      file: text("The manifest."),
      different: yesOrNo("Whether anything is otherwise than the manifest says."),
      steps: z.array(stepSchema).check(z.describe("In the order of the manifest, then what it no longer names.")),
      services: z
        .array(z.object({ name: text("Its name."), url: text("Where it answers.") }))
        .check(z.describe("The services that it names.")),
      verify: z
        .nullable(z.array(z.string()))
        .check(z.describe("The command that says whether work is done; null: none.")),
    }),

  async run(input, context) {
    const { file } = input;
    const runtimeOf = (role: string): string | null => context.supervisor.settings.roles[role]?.runtime ?? null;
    const manifest = readManifest({ file, text: input.text, looksSecret, runtimeOf });
    const wanted = manifest.sessions.map((session) => ({ id: session.id, spec: recordedSpec(session.spec), session }));
    const steps = stepsOf(file, wanted, context.store.registry.all());
    const checked = await checkAll(context, input, manifest, steps);
    const mistakes = inOrder([...manifest.mistakes, ...checked.mistakes]);
    if (mistakes.length > 0) throw invalid(file, mistakes);
    return {
      file,
      different: steps.some(({ action }) => action !== "keep"),
      steps: steps.map((step) => viewStep(step, checked.starts.get(step.id) ?? null)),
      services: [...manifest.services],
      verify: manifest.verify === null ? null : [...manifest.verify],
    };
  },
});

async function checkAll(
  context: OperationContext,
  { file, prune, environment: brought }: z.infer<typeof planManifest.input>,
  manifest: Manifest,
  steps: readonly Step[],
): Promise<{ readonly mistakes: readonly Mistake[]; readonly starts: ReadonlyMap<string, ManifestStart> }> {
  for (const runtime of context.supervisor.runtimes().slice(0, 1)) await requireReady(runtime);
  const own = steps.filter(({ action }) => prune || action !== "remove").map(({ session }) => session?.id);
  const rivals = context.store.registry.all().filter(({ id }) => !own.includes(id));
  const sessions = await Promise.all(
    manifest.sessions.map(async (session) => {
      const step = steps.find(({ id }) => id === session.id);
      if (step === undefined) throw new Error(`no step for ${session.id}`);
      const start = startOf(session, file);
      const check = await checkSession(context, { session, step, start, environment: brought, rivals });
      const { base, ...rest } = start;
      // A branch that is there has begun already.
      return { session, ...check, start: check.checkout?.isBranchThere === true ? rest : { ...rest, base } };
    }),
  );
  const mistaken = await Promise.all(
    manifest.mistaken.map((session) => checkMistaken(context, session, startOf(session, file))),
  );
  const mistakes = [
    ...mistaken.flat(),
    ...sessions.flatMap((one) => [...nameMistakes(context, file, one.session), ...one.mistakes]),
    ...sharedPlaces(sessions),
  ];
  return { mistakes, starts: new Map(sessions.map(({ session, start }) => [session.id, start])) };
}

/** Whoever else has its name or its id. */
function nameMistakes({ store }: OperationContext, file: string, session: ManifestSession): readonly Mistake[] {
  const { id } = session;
  const holder = holderOf(store.registry, id);
  if (holder !== undefined && holder.identity.manifest?.file !== file)
    return [mistakeOf(session, "id", claimed({ id, file }, holder))];
  const named = store.registry.byName(id).find((other) => !isEnded(other) && other.id !== holder?.id);
  if (named === undefined) return [];
  const message = `There is a session ${id} already, which this manifest did not make; rename it with reeve rename, end it, or choose another id.`;
  return [{ ...session.at("id"), code: "name-taken", message }];
}

function viewStep(
  { id, action, session, why, changes }: Step,
  start: ManifestStart | null,
): z.input<typeof stepSchema> {
  return {
    id,
    action,
    session_id: session?.id ?? null,
    name: session?.identity.name ?? null,
    why,
    changes: changes.map(({ key, before, after }) =>
      key === "prompt" ? { key, before: null, after: null } : { key, before, after },
    ),
    start: action === "start" || action === "replace" ? start : null,
  };
}

function looksSecret(given: string): boolean {
  return shapedSpans(flatten(given)).spans.length > 0;
}

/** By their places. What is wrong in the defaults is found for each session, and is one mistake. */
function inOrder(mistakes: readonly Mistake[]): readonly Mistake[] {
  const each = new Map(mistakes.map((one) => [`${one.line}:${one.column} ${one.message}`, one]));
  return [...each.values()].toSorted((one, other) => one.line - other.line || one.column - other.column);
}

function invalid(file: string, mistakes: readonly Mistake[]): ReeveError {
  const many = mistakes.length === 1 ? "a mistake" : `${mistakes.length} mistakes`;
  const [first] = mistakes;
  return new ReeveError({
    code: "manifest-invalid",
    kind: "usage",
    message: `${file} has ${many}, so nothing was started; the first is on line ${first?.line ?? 1}: ${first?.message ?? ""}`,
    details: { file, mistakes },
  });
}
