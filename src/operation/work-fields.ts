/** What may be said of an item when it is added or edited, and how that is checked before anything is recorded. */
import * as z from "zod/mini";
import type { EditableFields } from "../fleet/work-change.ts";
import {
  MOST_DEPENDENCIES,
  MOST_RETRIES,
  MOST_TEXT_BYTES,
  MOST_TITLE_CHARACTERS,
  PRIORITIES,
  PRIORITY_WORDS,
  REVIEWS,
} from "../fleet/work.ts";
import { requireRoom } from "../platform/disk-room.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { requireTypeable } from "../session/message-text.ts";
import { SESSION_ID_PATTERN } from "../session/session-id.ts";
import type { OperationContext } from "./contract.ts";
import { existingDirectory } from "./existing-directory.ts";
import { plainText } from "./field.ts";
import { resolveWork, workReference } from "./work-reference.ts";

const word = () =>
  z.string().check(z.regex(SESSION_ID_PATTERN, "made of lower-case letters, digits and dashes, at most 64"));

const A_PRIORITY = "a whole number from -1000 to 1000, or high, normal or low";
const isWithin = (given: number): boolean => given >= PRIORITIES.least && given <= PRIORITIES.most;

/** Without descriptions: adding and editing say different things about them. */
export const workInput = {
  title: z.string().check(z.minLength(1, "some text"), z.maxLength(MOST_TITLE_CHARACTERS)),
  body: z.string(),
  priority: z
    .union(
      [z.int(A_PRIORITY), z.enum(Object.keys(PRIORITY_WORDS) as [keyof typeof PRIORITY_WORDS], A_PRIORITY)],
      A_PRIORITY,
    )
    .check(z.refine((given) => typeof given === "string" || isWithin(given), A_PRIORITY)),
  dependencies: z.array(workReference).check(z.maxLength(MOST_DEPENDENCIES)),
  agent: word(),
  role: word(),
  branch: plainText().check(z.minLength(1, "the name of a branch, or be left out"), z.maxLength(255)),
  cwd: plainText(),
  review: z.enum(REVIEWS),
  verify: z
    .array(plainText().check(z.maxLength(8_192)))
    .check(z.minLength(1, "a program and its arguments"), z.maxLength(100)),
  retry_limit: z.int().check(z.minimum(0), z.maximum(MOST_RETRIES)),
} as const;

type Input = { readonly [Key in keyof typeof workInput]?: z.output<(typeof workInput)[Key]> | null | undefined };

/** The fields that were given, as they are recorded; throws what is wrong with one of them. */
export async function checkedFields(context: OperationContext, input: Input): Promise<Partial<EditableFields>> {
  const { supervisor } = context;
  const { title, body, priority, dependencies, agent, role, branch, cwd, review, verify, retry_limit: retries } = input;
  if (body !== undefined && body !== null) requireText(context, body);
  if (agent !== undefined && agent !== null)
    supervisor.requireStartable(agent, supervisor.runtimes()[0]?.kind ?? "none");
  const given = {
    title: title === undefined || title === null ? undefined : checkedTitle(title),
    body: body ?? undefined,
    priority: typeof priority === "string" ? PRIORITY_WORDS[priority] : (priority ?? undefined),
    dependencies: dependencies === undefined || dependencies === null ? undefined : await known(context, dependencies),
    agent,
    role,
    branch,
    cwd: cwd === undefined || cwd === null ? cwd : await checkedDirectory(context, cwd),
    review: review ?? undefined,
    verify,
    retryLimit: retries ?? undefined,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** What somebody says about an item, of bounded size, and such that it can be typed into a worker. */
export function requireText({ outputsDir }: Pick<OperationContext, "outputsDir">, said: string): void {
  const bytes = Buffer.byteLength(said);
  if (bytes > MOST_TEXT_BYTES)
    throw new ReeveError({
      code: "work-too-long",
      kind: "usage",
      message: `The text has ${bytes} bytes, and at most ${MOST_TEXT_BYTES} are allowed; put it into a file and name its path.`,
    });
  requireTypeable(said);
  if (bytes > SHORT_TEXT) requireRoom(outputsDir);
}

/** A short report must get through when the disk is full. */
const SHORT_TEXT = 4_096;

function checkedTitle(given: string): string {
  const title = given.replace(/\s+/g, " ").trim();
  requireTypeable(title);
  if (title !== "") return title;
  throw new ReeveError({
    code: "bad-request",
    kind: "usage",
    message: "title must be some text: say in one line what is to be done.",
    details: { field: "title" },
  });
}

async function known({ supervisor }: OperationContext, references: readonly string[]): Promise<readonly string[]> {
  const items = await Promise.all(references.map((reference) => resolveWork(supervisor, reference)));
  return [...new Set(items.map(({ id }) => id))];
}

async function checkedDirectory({ supervisor }: OperationContext, path: string): Promise<string> {
  const { files } = supervisor.runtime(supervisor.runtimes()[0]?.kind ?? "none");
  return await existingDirectory(files, path);
}
