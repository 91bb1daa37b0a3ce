/** What the engine is asked for: the body of a container's creation. Pure. */
import type { ContainerRequest, CreateRequest } from "../contract.ts";
import { BOX_RUN_DIR, boxEntry } from "../boxed/box-config.ts";
import { PASSAGE_DIR } from "../boxed/passage-carrier.ts";
import { LABELS } from "./container-record.ts";

/** Shells, the agent, its tools; what forks without end stops here. */
const DEFAULT_PIDS = 512;
const TEMPORARY = {
  [BOX_RUN_DIR]: "rw,nosuid,nodev,noexec,size=4m,mode=1777",
  "/tmp": "rw,nosuid,nodev,size=512m,mode=1777",
};

export interface SpecParts {
  readonly instance: string;
  /** `uid:gid` inside. */
  readonly user: string;
  /** Whose sessions these are, for the label. */
  readonly owner: string;
}

export function containerSpec(request: CreateRequest, container: ContainerRequest, parts: SpecParts): object {
  const { sessionId, incarnation, cwd } = request;
  const own = [...new Set([cwd, ...container.shared])].map((path) => bind(path, path, false));
  const further = container.mounts.map(({ source, target, isReadOnly }) => bind(source, target, isReadOnly));
  const passage = container.passage ?? null;
  // Read-only: one that could replace the socket could listen to others, or to itself, as if it were the model.
  const way = passage === null ? [] : [bind(passage.directory, PASSAGE_DIR, true)];
  const binds = outermost([...own, ...further, ...way]);
  return {
    Image: container.image,
    User: parts.user,
    WorkingDir: "/",
    Hostname: sessionId.slice(0, 63).replace(/^-+|-+$/g, "") || "session",
    // Whatever the image would run itself stays out of it.
    Entrypoint: boxEntry(passage),
    Cmd: [],
    // Its first control client is spoken to over these; with whoever does so it loses its input, and ends.
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Healthcheck: { Test: ["NONE"] },
    Labels: {
      [LABELS.home]: parts.instance,
      [LABELS.session]: sessionId,
      [LABELS.incarnation]: String(incarnation),
      [LABELS.role]: container.role,
      [LABELS.owner]: parts.owner,
    },
    HostConfig: {
      Init: true,
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      NetworkMode: container.network === "full" ? "default" : "none",
      PidsLimit: container.pids ?? DEFAULT_PIDS,
      ...(container.memoryBytes === null
        ? {}
        : // No swap beyond it: a session that is out of memory ends instead of slowing down everything.
          { Memory: container.memoryBytes, MemorySwap: container.memoryBytes }),
      ...(container.cpus === null ? {} : { NanoCpus: Math.round(container.cpus * 1e9) }),
      RestartPolicy: { Name: "no" },
      // Nothing of the session's terminal is written to the engine's disk.
      LogConfig: { Type: "none" },
      // A session that works in /tmp itself has that one.
      Tmpfs: Object.fromEntries(
        Object.entries(TEMPORARY).filter(([path]) => !binds.some(({ Target }) => Target === path)),
      ),
      Mounts: binds,
    },
  };
}

interface Bind {
  readonly Type: "bind";
  readonly Source: string;
  readonly Target: string;
  readonly ReadOnly: boolean;
}

function bind(source: string, target: string, isReadOnly: boolean): Bind {
  return { Type: "bind", Source: source, Target: target, ReadOnly: isReadOnly };
}

/** The same place twice is refused by the engine; the later one counts. */
function outermost(binds: readonly Bind[]): readonly Bind[] {
  return [...new Map(binds.map((one) => [one.Target, one])).values()];
}
