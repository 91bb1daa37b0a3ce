/**
 * Builds session images from the project's Dockerfile with the engine's classic
 * builder, and lists those that were built so. The labels tell which versions
 * are really in an image: those are read from the image itself, and a second,
 * empty build writes them on it. Nothing is kept here: whoever asks again gets
 * from the engine's cache what it has built before.
 */
import { ReeveError } from "../../platform/reeve-error.ts";
import type { BuiltImage, ImageAgent, ImageRequest, ImageWorkshop } from "../images.ts";
import { IMAGE_AGENTS } from "../images.ts";
import { type BuildFailure, type BuildOutput, createBuildOutput } from "./build-output.ts";
import { type AddressEnvironment, engineAddress } from "./engine-address.ts";
import { createEngineClient, type EngineClient } from "./engine-client.ts";
import { impediment } from "./engine-facts.ts";
import { archiveOf, type ContextFile, imageContext } from "./image-context.ts";

/** Beside those of containers, in container-record.ts. */
const LABELS = {
  image: "dev.reeve.image",
  reeve: "dev.reeve.version",
  agent: (name: ImageAgent) => `dev.reeve.agent.${name}`,
} as const;
const KIND = "session";

/** Where install-agent.sh writes them: a line "PROGRAM VERSION" each. */
const VERSIONS = "/usr/local/share/reeve/versions";
/** To make a container that is never started, on a busy machine. */
const MAKE_MS = 60_000;

export function createImageWorkshop(options: {
  /** Of the Dockerfile. */
  readonly directory: string;
  readonly reeveVersion: string;
  /** As in docker-runtime.ts. */
  readonly host: string | null;
  readonly environment: AddressEnvironment;
}): ImageWorkshop {
  const engineThere = async (): Promise<EngineClient> => {
    const engine = createEngineClient(engineAddress(options.host, options.environment));
    try {
      await engine.demand("GET", "/_ping");
      return engine;
    } catch (error) {
      throw impediment(error, engine.address.url);
    }
  };

  return {
    async build(request, tell, signal) {
      const files = imageContext(options.directory, request.certificates);
      const engine = await engineThere();
      const reach = request.network === null ? {} : { networkmode: request.network };
      const values = argumentsOf(request, options.reeveVersion);
      const parameters = {
        ...reach,
        ...(request.isFresh ? { nocache: "1" } : {}),
        buildargs: JSON.stringify(values),
      };
      const made = await build(engine, files, parameters, createBuildOutput(tell, values), signal);
      const labels = {
        [LABELS.image]: KIND,
        [LABELS.reeve]: options.reeveVersion,
        ...Object.fromEntries(
          Object.entries(await versionsIn(engine, made)).map(([name, version]) => [
            LABELS.agent(name as ImageAgent),
            version,
          ]),
        ),
      };
      const labelled = [{ path: "Dockerfile", text: `FROM ${made}\n` }];
      const ends = { labels: JSON.stringify(labels), t: request.tag };
      const id = await build(
        engine,
        labelled,
        ends,
        createBuildOutput(() => undefined),
        signal,
      );
      return await inspect(engine, id);
    },
    async list() {
      const engine = await engineThere();
      const filters = encodeURIComponent(JSON.stringify({ label: [`${LABELS.image}=${KIND}`] }));
      const found = await engine.demand("GET", `/images/json?filters=${filters}`);
      const ids = Array.isArray(found) ? found.map((entry: { readonly Id?: unknown }) => String(entry.Id)) : [];
      const images = await Promise.all(ids.map((id) => inspect(engine, id)));
      return images
        .filter(({ tags }) => tags.length > 0)
        .toSorted((one, other) => other.builtAt - one.builtAt || (one.id < other.id ? -1 : 1));
    },
  };
}

type Parameters = Readonly<Record<string, string>>;

function argumentsOf({ agents, packages, base }: ImageRequest, reeveVersion: string): Parameters {
  return {
    ...(base === null ? {} : { BASE: base }),
    PACKAGES: packages.join(" "),
    CODEX_VERSION: agents.codex ?? "",
    CLAUDE_VERSION: agents.claude ?? "",
    GEMINI_VERSION: agents.gemini ?? "",
    REEVE_VERSION: reeveVersion,
  };
}

/** The id of the image. */
async function build(
  engine: EngineClient,
  files: readonly ContextFile[],
  parameters: Parameters,
  output: BuildOutput,
  signal: AbortSignal,
): Promise<string> {
  // The containers of its steps go away, also of one that failed.
  const query = new URLSearchParams({ rm: "1", forcerm: "1", ...parameters });
  try {
    await engine.give(`/build?${query.toString()}`, archiveOf(files), (line) => output.take(line), signal);
  } catch (error) {
    throw signal.aborted ? stopped() : notBuilt(error);
  }
  const failure = output.failure();
  if (failure !== null) throw failed(failure);
  const id = output.imageId();
  if (id !== null) return id;
  throw failed({ reason: "the Docker Engine told of no image", step: null, lines: [] });
}

/** From a container that is made for it and never started. */
async function versionsIn(engine: EngineClient, image: string): Promise<Readonly<Partial<Record<ImageAgent, string>>>> {
  const body = { Image: image, Cmd: ["true"], Labels: {}, HostConfig: { NetworkMode: "none" } };
  const made = await engine.demand("POST", "/containers/create", { body, timeoutMs: MAKE_MS });
  const id = String((made as { readonly Id?: unknown }).Id);
  try {
    const { status, body: archive } = await engine.ask("GET", `/containers/${id}/archive?path=${VERSIONS}`);
    // None: no agent was asked for.
    const text = status === 200 ? String(archive) : "";
    return Object.fromEntries(
      IMAGE_AGENTS.flatMap((name) => {
        // A tar of one small file of plain lines.
        const version = new RegExp(`(?:^|\\0|\\n)${name} ([0-9A-Za-z.+-]+)(?=\\n)`).exec(text)?.[1];
        return version === undefined ? [] : [[name, version]];
      }),
    );
  } finally {
    await engine.ask("DELETE", `/containers/${id}?force=1&v=1`, { timeoutMs: MAKE_MS });
  }
}

async function inspect(engine: EngineClient, id: string): Promise<BuiltImage> {
  const image = (await engine.demand("GET", `/images/${encodeURIComponent(id)}/json`)) as {
    readonly Id?: string;
    readonly RepoTags?: readonly string[] | null;
    readonly Created?: string;
    readonly Size?: number;
    readonly Config?: { readonly Labels?: Readonly<Record<string, string>> | null } | null;
  };
  const labels = image.Config?.Labels ?? {};
  const agents = IMAGE_AGENTS.flatMap((name) => {
    const version = labels[LABELS.agent(name)] ?? "";
    return version === "" ? [] : [[name, version] as const];
  });
  return {
    id: image.Id ?? id,
    tags: image.RepoTags ?? [],
    agents: Object.fromEntries(agents),
    reeveVersion: labels[LABELS.reeve] ?? null,
    labels,
    bytes: image.Size ?? 0,
    builtAt: Date.parse(image.Created ?? "") || 0,
  };
}

function failed({ reason, step, lines }: BuildFailure): ReeveError {
  const [, code] = /returned a non-zero code: (\d+)/.exec(reason) ?? [];
  const what = code === undefined ? reason.replace(/\.$/, "") : `it ended with code ${code}`;
  const where = step === null ? "" : `the step "${step}" failed: `;
  return new ReeveError({
    code: "image-build-failed",
    kind: "conflict",
    message: `The image was not built: ${where}${what}.${adviceOn({ reason, step, lines })}`,
    details: { reason, step, output: lines },
  });
}

/** The usual reasons, by the words of npm, apt and the engine; what is not known is shown as it is. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /self[- ]signed certificate|SELF_SIGNED_CERT|unable to (?:get (?:local )?issuer|verify the first certificate)|certificate verify failed/i,
    "Something on the way to the network uses its own certificates: give its authority with --ca-certificate FILE.",
  ],
  [/E404|ETARGET|No matching version/, "npm does not have that version; check it with npm view."],
  [/Unable to locate package/, "Debian does not have that package; check its name."],
  [/Unsupported engine|EBADENGINE/, "An agent needs a newer Node; give a newer base with --base."],
  [
    /Temporary failure resolving|EAI_AGAIN|ENOTFOUND|Could not resolve|network is unreachable|ECONNREFUSED/i,
    "The build has no network; check the engine's, or try --network host.",
  ],
  [/dpkg-query: not found|apt-get: not found/, "The base image must be Debian, or made from it."],
  [/no space left on device/i, "The engine's disk is full; make room, for example with docker system prune."],
];

function adviceOn({ reason, step, lines }: BuildFailure): string {
  if (step?.startsWith("FROM ") === true) return " Check the name of the base image, or get it with docker pull.";
  const text = [...lines, reason].join("\n");
  const [, advice] = ADVICE.find(([pattern]) => pattern.test(text)) ?? [];
  return advice === undefined ? "" : ` ${advice}`;
}

/** Refused before any step, such as an unknown network or a Dockerfile that the engine does not take. */
function notBuilt(error: unknown): unknown {
  if (!(error instanceof ReeveError) || error.code !== "engine-refused") return error;
  return failed({ reason: String(error.details["reason"]), step: null, lines: [] });
}

function stopped(): ReeveError {
  return new ReeveError({
    code: "image-build-stopped",
    kind: "conflict",
    message:
      "The build was stopped before it was done. Start it again to go on: steps that were done are not repeated.",
  });
}
