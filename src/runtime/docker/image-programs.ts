/**
 * Which programs an image has, asked in a container of it that lives for a
 * moment. The answers are kept as long as the image is the same, so a start
 * asks once. The container ends by itself after a minute, whatever becomes of
 * the daemon, and the engine removes it then.
 */
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { type BoxShell, createBoxShell } from "../boxed/box-shell.ts";
import { localFiles } from "../local-files.ts";
import type { SessionPrograms } from "../session-files.ts";
import type { EngineClient } from "./engine-client.ts";
import type { EngineFacts } from "./engine-facts.ts";
import { execTransport } from "./exec-transport.ts";
import { type Image, requireImage } from "./image.ts";
import { LABELS } from "./container-record.ts";
import { notMade } from "./refusals.ts";

export interface ImagePrograms {
  /** Of an image by its name, as it is now. Throws where there is none that can be used. */
  in(name: string): Promise<SessionPrograms & { readonly path: string }>;
  /** Removes what earlier questions left in the engine. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

/** As Debian and Docker have it, for images that set none. */
const USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const PROBE = "dev.reeve.probe";
const LIFE_SECONDS = 60;
/** Questions of one start follow each other at once. */
const IDLE_MS = 2_000;
/** A program that is asked for its version may start slowly, and the container first. */
const ANSWER_MS = 30_000;
const MAKE_MS = 60_000;

export function createImagePrograms(parts: {
  readonly engine: EngineClient;
  readonly instance: string;
  readonly facts: () => Promise<EngineFacts>;
  readonly user: () => Promise<string>;
  readonly clock: Clock;
}): ImagePrograms {
  const { engine, clock } = parts;
  const known = new Map<string, Promise<SessionPrograms & { readonly path: string }>>();
  const open = new Set<string>();

  /** How many were begun: what was listed before says nothing about those begun since. */
  let begun = 0;
  let isMaking = 0;
  /** An earlier daemon, or an engine that was killed, may have left some: one that was never started stays for good. */
  let mayBeLeft = true;

  const remove = async (id: string): Promise<void> => {
    open.delete(id);
    await engine.ask("DELETE", `/containers/${id}?force=1&v=1`).catch(() => (mayBeLeft = true));
  };

  const tidy = async (): Promise<void> => {
    if (!mayBeLeft || isMaking > 0) return;
    const before = begun;
    const filters = JSON.stringify({ label: [`${LABELS.home}=${parts.instance}`, PROBE] });
    const found = await engine.demand("GET", `/containers/json?all=1&filters=${encodeURIComponent(filters)}`);
    if (begun !== before) return;
    mayBeLeft = false;
    const ids = (found as readonly { readonly Id: string }[]).map(({ Id }) => Id);
    await Promise.all(ids.filter((id) => !open.has(id)).map(remove));
  };

  const begin = async (name: string): Promise<string> => {
    const body = {
      Image: name,
      User: await parts.user(),
      Entrypoint: ["/bin/sh", "-c", `sleep ${LIFE_SECONDS}`],
      Cmd: [],
      Labels: { [LABELS.home]: parts.instance, [PROBE]: "true" },
      HostConfig: {
        AutoRemove: true,
        Init: true,
        ReadonlyRootfs: true,
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
        NetworkMode: "none",
        LogConfig: { Type: "none" },
        Tmpfs: { "/tmp": "rw,nosuid,nodev,size=64m,mode=1777" },
      },
    };
    begun += 1;
    isMaking += 1;
    const made = await engine.demand("POST", "/containers/create", { body, timeoutMs: MAKE_MS }).finally(() => {
      isMaking -= 1;
      mayBeLeft = true; // until it is known to be gone
    });
    const id = String((made as { readonly Id?: unknown }).Id);
    open.add(id);
    failpoint("probe.after-container");
    try {
      await engine.demand("POST", `/containers/${id}/start`, { timeoutMs: MAKE_MS });
    } catch (error) {
      await remove(id);
      throw notMade(error, name);
    }
    return id;
  };

  const make = (name: string, image: Image): SessionPrograms & { readonly path: string } => {
    const answers = new Map<string, Promise<string>>();
    let shell: { readonly id: Promise<string>; readonly ask: BoxShell["ask"] } | null = null;
    let forget: () => void = () => undefined;

    const inContainer = async (code: string): Promise<string> => {
      forget();
      const isKept = shell !== null;
      if (shell === null) {
        const id = begin(name);
        const user = parts.user();
        const made = createBoxShell(async () => execTransport(engine, await id, { user: await user }), clock);
        shell = { id, ask: made.ask };
        id.catch(() => (shell = null));
      }
      const now = shell;
      const leave = (): void => {
        if (shell === now) shell = null;
        now.id.then(remove, () => undefined);
      };
      try {
        const answer = (await now.ask(code, ANSWER_MS)).toString("utf8");
        forget = clock.after(IDLE_MS, leave);
        return answer;
      } catch (error) {
        leave();
        // Of an earlier question, it may be gone with an engine that was restarted since.
        if (!isKept) throw error;
        return await inContainer(code);
      }
    };

    const ask = (code: string): Promise<string> => {
      const asking = answers.get(code) ?? inContainer(code);
      answers.set(code, asking);
      asking.catch(() => answers.delete(code));
      return asking;
    };

    return {
      path: pathIn(image.environment),
      async findProgram(command, where) {
        // What lies in the session's directory is the same on both sides.
        if (command.includes("/") && !command.startsWith("/")) return localFiles.findProgram(command, where);
        const directories = command.startsWith("/")
          ? [""]
          : (where.path ?? USUAL_PATH).split(":").map((at) => `${at}/`);
        const candidates = directories.map((directory) => quoted(`${directory}${command}`)).join(" ");
        const code = `for f in ${candidates}; do if [ -f "$f" ] && [ -x "$f" ]; then printf %s "$f"; break; fi; done`;
        const path = await ask(code);
        if (path !== "") return { path, stamp: `${image.id} ${path}` };
        return command.startsWith("/") ? localFiles.findProgram(command, where) : null;
      },
      async realPath(path) {
        const real = await ask(`readlink -f ${quoted(path)}`);
        return real.trim() === "" ? null : real.trim();
      },
      async read(path, { mostBytes }) {
        const text = await ask(
          `if [ -f ${quoted(path)} ]; then printf x; head -c ${mostBytes + 1} ${quoted(path)}; fi`,
        );
        return text === "" || Buffer.byteLength(text) > mostBytes + 1 ? null : text.slice(1);
      },
      ask: (path, args) => ask([path, ...args].map(quoted).join(" ")),
    };
  };

  return {
    async in(name) {
      const image = await requireImage(engine, name, await parts.facts());
      const key = `${name} ${image.id}`;
      const programs = known.get(key) ?? Promise.resolve(make(name, image));
      known.set(key, programs);
      return programs;
    },
    tidy,
    async close() {
      await Promise.all([...open].map(remove));
    },
  };
}

function pathIn(environment: readonly string[]): string {
  return environment.find((entry) => entry.startsWith("PATH="))?.slice("PATH=".length) ?? USUAL_PATH;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
