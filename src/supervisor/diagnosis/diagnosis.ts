/**
 * Finds out which layer is broken for a session: gathers what it depends on, has that tried by both routes, and says what
 * follows. It changes nothing, and nothing of it is recorded.
 */
import { dirname, join } from "node:path";
import type { Agent } from "../../agent/contract.ts";
import { readManifest } from "../../fleet/manifest.ts";
import type { Clock } from "../../platform/clock.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import { type FoundService, SERVICE_FILES, servicesIn } from "../../session/diagnosis/found-services.ts";
import type { Session } from "../../session/session.ts";
import { targetOf } from "../ledger/target.ts";
import { findGit } from "../launch/git.ts";
import type { Launcher } from "../launch/launcher.ts";
import type { ProgramFinder } from "../launch/program-finder.ts";
import { wantsProxy } from "../launch/wants-proxy.ts";
import { probesOf } from "./probes.ts";
import { type Inside, type LayerFinding, tryRoutes } from "./routes.ts";

export interface Diagnosis {
  /** What the session depends on, and these services beside it. */
  ofSession(session: Session, services: readonly FoundService[]): Promise<readonly LayerFinding[]>;
  /** These alone, as Reeve itself sees them. */
  ofServices(services: readonly FoundService[]): Promise<readonly LayerFinding[]>;
}

export interface DiagnosisParts {
  readonly agent: (name: string) => Agent;
  readonly runtime: (kind: string) => Runtime;
  readonly plan: Launcher;
  readonly programs: ProgramFinder;
  readonly captureAddress: (sessionId: string, upstream: string) => string;
  readonly socketOfSessions: string;
  /** The file of probe-program.ts. */
  readonly probeProgram: string;
  readonly ownEnvironment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** What a session's own files say of it is read quickly, or not at all. */
const GATHER_MS = 600;
const LARGEST_FILE = 262_144;
const TRANSCRIPT_BYTES = 262_144;

export function createDiagnosis(parts: DiagnosisParts): Diagnosis {
  const { clock } = parts;

  /** Something that hangs or fails is left out: the rest is looked at all the same. */
  async function orElse<T>(work: Promise<T>, otherwise: T): Promise<T> {
    const done = new AbortController();
    const late = clock.sleep(GATHER_MS, done.signal).then(
      () => otherwise,
      () => otherwise,
    );
    try {
      return await Promise.race([work.catch(() => otherwise), late]);
    } finally {
      done.abort();
    }
  }

  async function upstreamsOf(session: Session): Promise<Parameters<typeof probesOf>[0]["upstreams"]> {
    const { agent: name, runtime, outputsDir, launch } = session.identity;
    if (parts.agent(name).captures?.proxy !== true) return [];
    // What the agent would tell the capture proxy is where it reaches its model.
    const { plan } = await parts.plan({
      agent: name,
      runtime,
      sessionId: session.id,
      outputsDir,
      launch: { ...launch, persistence: { capture: "proxy", debugLog: null } },
      beginning: { resume: null, prompt: null },
    });
    const isProxied = wantsProxy(launch);
    return Object.entries(plan.capture?.upstreams ?? {}).map(([upstream, url]) => ({
      name: upstream,
      url,
      inside: isProxied ? parts.captureAddress(session.id, upstream) : url,
    }));
  }

  async function remoteOf({ identity: { runtime, launch } }: Session): Promise<string | null> {
    const git = await findGit(parts.runtime(runtime).files, launch.cwd, launch.paths);
    const said = await git?.run(launch.cwd, ["config", "--get", "remote.origin.url"], { timeoutMs: GATHER_MS });
    return said?.status === 0 ? said.stdout.trim() || null : null;
  }

  async function servicesOf({ identity: { runtime, launch, manifest } }: Session): Promise<readonly FoundService[]> {
    const { files } = parts.runtime(runtime);
    const read = (path: string): Promise<string | null> =>
      files.read(path, { mostBytes: LARGEST_FILE, refuseLinks: true }).catch(() => null);
    const texts = await Promise.all(SERVICE_FILES.map(async (name) => [name, await read(join(launch.cwd, name))]));
    const file = manifest?.file ?? join(launch.cwd, "reeve.toml");
    const text = await read(file);
    const declared = text === null ? [] : readManifest({ file, text, looksSecret: () => false }).services;
    const found = servicesIn(Object.fromEntries(texts) as Parameters<typeof servicesIn>[0]);
    return [...declared, ...found.filter(({ url }) => declared.every((service) => service.url !== url))];
  }

  async function linesOf({ identity, watch: { observability } }: Session): Promise<readonly string[]> {
    if (observability.transcriptPath === null) return [];
    const { files } = parts.runtime(identity.runtime);
    return (await files.readTail(observability.transcriptPath, { bytes: TRANSCRIPT_BYTES, since: null })).lines;
  }

  /** How to look from where it lives; a text says why nobody can. */
  async function insideOf(session: Session): Promise<Inside | string> {
    const { agent: name, runtime: kind, launch } = session.identity;
    const runtime = parts.runtime(kind);
    if (runtime.runBeside === undefined) return `the runtime ${kind} runs nothing beside a session`;
    if (session.process.place === null || session.process.exit !== null) return "the session does not run";
    const target = targetOf(session);
    const environment = await runtime.environmentOf(target, session.process.place);
    if (environment === null) return "its environment cannot be read";
    const agent = parts.agent(name);
    let sandbox: readonly string[] | null = null;
    if (agent.sandbox !== undefined && launch.container === null) {
      const program = await parts.programs.find(agent, runtime.files, launch);
      const lines = await orElse(linesOf(session), []);
      sandbox = program === null ? null : agent.sandbox({ program: program.path, launch, lines });
    }
    const run =
      (within: readonly string[]) =>
      (input: string, timeoutMs: number): Promise<string> =>
        runtime.runBeside?.(target, {
          program: parts.probeProgram,
          within,
          cwd: launch.cwd,
          environment: unmarked(environment),
          input,
          timeoutMs,
        }) ?? Promise.reject(new Error("nothing can be run there"));
    return {
      isBoxed: launch.container !== null,
      environment,
      sandboxed: run(sandbox ?? []),
      unsandboxed: sandbox === null ? null : run([]),
    };
  }

  return {
    async ofSession(session, services) {
      const { launch } = session.identity;
      const [upstreams, remote, own, inside] = await Promise.all([
        orElse(upstreamsOf(session), []),
        orElse(remoteOf(session), null),
        orElse(servicesOf(session), []),
        insideOf(session).catch((error: unknown) => messageOf(error)),
      ]);
      const isOwnGround = launch.container === null;
      const probes = probesOf({
        socket: parts.socketOfSessions,
        cwd: launch.cwd,
        upstreams,
        // A password in an address would be seen by everybody who lists processes.
        remote: remote === null || (!isOwnGround && /\/\/[^/@]*@/.test(remote)) ? null : absolute(remote, launch.cwd),
        isOwnGround,
        services: [...services, ...own.filter(({ url }) => services.every((service) => service.url !== url))],
      });
      return await tryRoutes(probes, inside, parts);
    },
    ofServices: (services) =>
      tryRoutes(
        probesOf({ socket: null, cwd: null, upstreams: [], remote: null, isOwnGround: true, services }),
        null,
        parts,
      ),
  };
}

/** The mark says that a process is the session's: this one is not. */
function unmarked({
  REEVE_MARK: _mark,
  ...environment
}: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return environment;
}

/** A remote that is a directory is one relative to the checkout. */
function absolute(remote: string, cwd: string): string {
  return /^[\w+.-]+:\/\/|^[^/:]+@?[^/:]*:/.test(remote) ? remote : join(dirname(join(cwd, "x")), remote);
}
