/** Builds an image for sessions in containers, and tells how far it is to whoever listens. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import { messageOf, ReeveError } from "../platform/reeve-error.ts";
import { IMAGE_AGENTS, type ImageAgent, type ImageRequest, type BuildProgress } from "../runtime/images.ts";
import type { OperationContext, StreamItem } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { text, whenUsed } from "./field.ts";
import { imageSchema, viewImage } from "./image-view.ts";

/** Of an agent as npm has it: 1.2.3, 1.2.3-beta.4, or the newest. */
const VERSION = /^(?:\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?|latest)$/;
const PACKAGE = /^[a-z0-9][a-z0-9+.-]+$/;
/** As Docker takes them: [host[:port]/]path[:tag][@digest]. */
const REFERENCE =
  /^(?:[A-Za-z0-9.-]+(?::\d+)?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/;
const TAG = /^(?:[A-Za-z0-9.-]+(?::\d+)?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::\w[\w.-]{0,127})?$/;

const DEFAULT_TAG = "reeve-session";

const progressSchema = whenUsed(() =>
  z.object({
    kind: z
      .enum(["step", "output", "download", "built", "failed"])
      .check(z.describe("A step begins; a line that it printed; a download; and last, that it is built or failed.")),
    text: text("The step, the line, or in a sentence how it ended."),
    step: z.nullable(z.int()).check(z.describe("Of a step: which one it is.")),
    steps: z.nullable(z.int()).check(z.describe("Of a step: how many there are.")),
    image: z.nullable(imageSchema).check(z.describe("Where it is built.")),
    problem: z
      .nullable(
        z.object({
          code: text("For programs."),
          kind: text("What kind of error it is."),
          details: z.record(z.string(), z.unknown()).check(z.describe("More for programs.")),
        }),
      )
      .check(z.describe("Where it failed.")),
  }),
);

export type ImageProgress = z.output<typeof progressSchema>;

export const buildImage = defineOperation({
  name: "build_image",
  summary:
    "Build an image for sessions in containers, with the agents you choose. Takes minutes, or a moment if the engine has built the same before. As server-sent events (Accept: text/event-stream) it tells its progress, and last the image or the problem. If the caller goes away, it is stopped.",
  method: "POST",
  path: "/v1/images",
  effect: "change",
  callers: { operator: "any", session: "none" },
  example: { agents: ["codex@0.166.0", "claude"], packages: ["python3"] },
  names: [],
  about: ["tag"],
  input: () =>
    z.object({
      agents: z
        .optional(z.array(z.string().check(z.maxLength(100))).check(z.maxLength(IMAGE_AGENTS.length)))
        .check(
          z.describe(
            "Each codex, claude or gemini, with @ and a version; without one the newest. By default the newest of all three.",
          ),
        ),
      packages: z
        ._default(z.array(z.string().check(z.maxLength(100))).check(z.maxLength(200)), [])
        .check(z.describe("Further Debian packages.")),
      ca_certificates: z
        ._default(z.array(z.string()).check(z.maxLength(200)), [])
        .check(
          z.describe("Certificate authorities that programs in the image should trust: PEM, one or more in each."),
        ),
      base: z
        .optional(z.string().check(z.maxLength(255)))
        .check(z.describe("The image to build on: Debian with Node and npm. By default node:22-bookworm-slim.")),
      tag: z
        ._default(z.string().check(z.maxLength(255)), DEFAULT_TAG)
        .check(z.describe("What to call it, as NAME or NAME:TAG.")),
      no_cache: z
        ._default(z.boolean(), false)
        .check(
          z.describe("Repeat every step: otherwise the newest version of an agent is the one of the first build."),
        ),
      network: z
        ._default(z.enum(["default", "host", "none"]), "default")
        .check(z.describe("The network that the steps of the build have.")),
    }),
  output: () => imageSchema,

  run: async (input, { images, signal }) => viewImage(await images.build(requestOf(input), () => undefined, signal)),

  stream: {
    since: null,
    without: [],
    item: progressSchema,
    open: (input, context) => follow(requestOf(input), context),
  },
});

interface Asked {
  readonly agents?: readonly string[] | undefined;
  readonly packages: readonly string[];
  readonly ca_certificates: readonly string[];
  readonly base?: string | undefined;
  readonly tag: string;
  readonly no_cache: boolean;
  readonly network: "default" | "host" | "none";
}

function requestOf({ agents = IMAGE_AGENTS, packages, tag, base, ...asked }: Asked): ImageRequest {
  for (const name of packages)
    if (!PACKAGE.test(name))
      throw refused("packages", `"${shown(name)}" cannot be a Debian package; give a name such as python3.`);
  if (!TAG.test(tag))
    throw refused(
      "tag",
      `"${shown(tag)}" cannot be the name of an image; use lower-case letters, as in team/agents:1.`,
    );
  if (base !== undefined && !REFERENCE.test(base))
    throw refused("base", `"${shown(base)}" cannot be an image; give one such as node:22-bookworm-slim.`);
  return {
    agents: versionsOf(agents),
    packages: [...new Set(packages)].toSorted(),
    certificates: asked.ca_certificates,
    base: base ?? null,
    tag,
    isFresh: asked.no_cache,
    network: asked.network === "default" ? null : asked.network,
  };
}

function versionsOf(agents: readonly string[]): ImageRequest["agents"] {
  const versions: Partial<Record<ImageAgent, string>> = {};
  for (const asked of agents) {
    const [given = "", version = "latest"] = asked.split(/@(.*)/s, 2);
    const name = IMAGE_AGENTS.find((agent) => agent === given);
    if (name === undefined)
      throw refused(
        "agents",
        `Reeve cannot install an agent "${shown(given)}"; it knows ${IMAGE_AGENTS.join(", ")}. For another, build an image of your own on this one.`,
      );
    if (!VERSION.test(version))
      throw refused(
        "agents",
        `"${shown(version)}" is no version of ${name}; give one as npm has it, such as ${name}@1.2.3.`,
      );
    if (versions[name] !== undefined && versions[name] !== version)
      throw refused("agents", `${name} was given twice, as ${versions[name]} and ${version}; give it once.`);
    versions[name] = version;
  }
  return versions;
}

function refused(field: string, message: string): ReeveError {
  return new ReeveError({ code: "bad-request", kind: "usage", message, details: { field } });
}

function shown(value: string): string {
  return stripTerminal(value).slice(0, 100);
}

/** Held for a reader that does not keep up; of output only the end counts then. */
const MOST_HELD = 500;

async function* follow(
  request: ImageRequest,
  { images, signal }: OperationContext,
): AsyncGenerator<readonly StreamItem[], void, void> {
  let held: ImageProgress[] = [];
  let wake = (): void => undefined;
  let isOver = false;
  let id = 0;
  const tell = (progress: ImageProgress): void => {
    held.push(progress);
    if (held.length > MOST_HELD)
      held.splice(
        held.findIndex(({ kind }) => kind !== "step"),
        1,
      );
    wake();
  };
  // Its end is told like everything else, and it ends with the signal.
  void images
    .build(request, (progress) => tell(itemOf(progress)), signal)
    .then(
      (image) => tell({ ...EMPTY, kind: "built", text: "The image is built.", image: viewImage(image) }),
      (error: unknown) => tell({ ...EMPTY, kind: "failed", text: messageOf(error), problem: problemOf(error) }),
    )
    .finally(() => {
      isOver = true;
      wake();
    });
  for (;;) {
    const page = held.map((data) => ({ id: (id += 1), type: `image-${data.kind}`, data }));
    held = [];
    if (page.length > 0) yield page;
    if (held.length > 0) continue;
    if (isOver) return;
    await new Promise<void>((resolve) => (wake = resolve));
  }
}

const EMPTY = { step: null, steps: null, image: null, problem: null } as const;

function itemOf(progress: BuildProgress): ImageProgress {
  return { ...EMPTY, ...progress };
}

function problemOf(error: unknown): ImageProgress["problem"] {
  if (!(error instanceof ReeveError)) return { code: "internal", kind: "internal", details: {} };
  const { code, kind, details } = error;
  return { code, kind, details: { ...details } };
}
