/**
 * A toy of a runtime on another machine: its sessions live under another root directory, which only its
 * own seam knows, and each question takes a while to get there and back. Of two questions under way at once the later
 * is answered first. Below it is any runtime, on this machine.
 */
import { createKeyedQueue } from "../../src/platform/keyed-queue.ts";
import type { Presence, Runtime } from "../../src/runtime/contract.ts";
import type { FileChange, SessionFiles } from "../../src/runtime/session-files.ts";
import type { Place } from "../../src/session/session.ts";

export interface RemoteOptions {
  readonly inner: Runtime;
  /** What lies below `near` for Reeve lies below `far` in truth; neither is part of the other. */
  readonly near: string;
  readonly far: string;
  readonly latencyMs: number;
}

export function createRemoteRuntime({ inner, near, far, latencyMs }: RemoteOptions): Runtime {
  const there = (text: string): string => text.replaceAll(near, far);
  const here = (text: string): string => text.replaceAll(far, near);
  const ask = createLine(latencyMs);
  const inOrder = createWire(latencyMs);
  const innerPlace = (place: Place | null): Place | null => (place === null ? null : (place["there"] as Place));
  const outerPlace = (place: Place): Place => ({ machine: "far away", there: place });
  const outer = (presence: Presence): Presence =>
    presence.status === "running" ? { ...presence, place: outerPlace(presence.place) } : presence;

  return {
    ...inner,
    kind: "remote",
    files: remoteFiles(inner.files, { there, here, ask, inOrder }),
    requireReady: () => ask(inner.requireReady),
    create: (request) =>
      ask(async () => {
        const { place, isNew } = await inner.create({
          ...request,
          argv: request.argv.map(there),
          cwd: there(request.cwd),
          environment: request.environment === null ? null : mapValues(request.environment, there),
          extraEnvironment: mapValues(request.extraEnvironment, there),
        });
        return { place: outerPlace(place), isNew };
      }),
    describe(place) {
      const { text, id } = inner.describe(innerPlace(place) ?? {});
      return { text: `${text} far away`, id, pid: null };
    },
    retainsEnvironment: (sessionId) => ask(() => inner.retainsEnvironment(sessionId)),
    environmentOf: (target, place) =>
      ask(async () => {
        const environment = await inner.environmentOf(target, innerPlace(place));
        return environment === null ? null : mapValues(environment, here);
      }),
    observe: (target) => ask(async () => outer(await inner.observe(target))),
    list: () =>
      ask(async () => {
        const listing = await inner.list();
        if (!listing.reachable) return listing;
        const entries = listing.entries.map((entry) => ({ ...entry, presence: outer(entry.presence) }));
        return { ...listing, entries };
      }),
    vitals: (sessions) =>
      ask(() => inner.vitals(sessions.map(({ target, place }) => ({ target, place: innerPlace(place) })))),
    send: (target, steps) => ask(() => inner.send(target, steps)),
    capture: (target, options) => ask(() => inner.capture(target, options)),
    relabel: (target, label) => ask(() => inner.relabel(target, label)),
    lastTypedAt: (target) => ask(() => inner.lastTypedAt(target)),
    owns: (target, process) => ask(() => inner.owns(target, process)),
    lives: (process) => ask(() => inner.lives(process)),
    openFiles: (target, place) =>
      ask(async () => (await inner.openFiles(target, innerPlace(place))).map((path) => here(path))),
    stream: (target, listener) => untilClosed(inOrder, listener, (heard) => inner.stream(target, heard)),
    follow(target, listener) {
      let repaint = (): void => undefined;
      const stop = untilClosed(inOrder, listener, (heard) => {
        const following = inner.follow(target, heard);
        repaint = following.repaint;
        return following.stop;
      });
      return { repaint: () => repaint(), stop };
    },
    openTerminal: (target) =>
      ask(async () => {
        const { output, write, resize, close } = await inner.openTerminal(target);
        const oneByOne = createKeyedQueue();
        return {
          output: late(output, latencyMs),
          write: (bytes) => oneByOne.run("typing", () => ask(() => write(bytes))),
          resize: (size) => oneByOne.run("typing", () => ask(() => resize(size))),
          close,
        };
      }),
    suspend: (target) => ask(() => inner.suspend(target)),
    release: (target) => ask(() => inner.release(target)),
    stop: (target, options) => ask(() => inner.stop(target, options)),
    destroy: (target) => ask(() => inner.destroy(target)),
    findStrays: (live) => ask(() => inner.findStrays(live)),
    endProof: () => ask(inner.endProof),
    onChange: (listener) => untilClosed(inOrder, listener, (heard) => inner.onChange(heard)),
    attachCommand: (target, taken, options) => ask(() => inner.attachCommand(target, taken, options)),
  };
}

type Ask = <T>(question: () => Promise<T>) => Promise<T>;
type InOrder = <T>(listener: (news: T) => void) => (news: T) => void;

function remoteFiles(
  inner: SessionFiles,
  {
    there,
    here,
    ask,
    inOrder,
  }: {
    readonly there: (text: string) => string;
    readonly here: (text: string) => string;
    readonly ask: Ask;
    readonly inOrder: InOrder;
  },
): SessionFiles {
  return {
    read: (path, options) =>
      ask(async () => {
        const text = await inner.read(there(path), options);
        return text === null ? null : here(text);
      }),
    readNewLines: (path, cursor, limits) => ask(() => inner.readNewLines(there(path), cursor, limits)),
    blankUpTo: (path, cursor) => ask(() => inner.blankUpTo(there(path), cursor)),
    readTail: (path, options) => ask(() => inner.readTail(there(path), options)),
    stat: (path) => ask(() => inner.stat(there(path))),
    list: (directory) => ask(() => inner.list(there(directory))),
    async watch(path, tell) {
      let isClosed = false;
      const heard = inOrder<FileChange>((change) => (isClosed ? undefined : tell(change)));
      const watching = await ask(() => inner.watch(there(path), heard));
      return {
        close() {
          isClosed = true;
          watching.close();
        },
      };
    },
    write: (file) => ask(() => inner.write({ ...file, path: there(file.path), content: there(file.content) })),
    makeDirectory: (path) => ask(() => inner.makeDirectory(there(path))),
    remove: (path) => ask(() => inner.remove(there(path))),
    removeTree: (path) => ask(() => inner.removeTree(there(path))),
    removeLeftover: (path) => ask(() => inner.removeLeftover(there(path))),
    link: (path, target, how) => ask(() => inner.link(there(path), there(target), how)),
    hold: (path, target) => ask(() => inner.hold(there(path), there(target))),
    unlink: (path, target) => ask(() => inner.unlink(there(path), there(target))),
    realPath: (path) =>
      ask(async () => {
        const real = await inner.realPath(there(path));
        return real === null ? null : here(real);
      }),
    findProgram: (command, where) => ask(() => inner.findProgram(command, { ...where, cwd: there(where.cwd) })),
    ask: (path, args, options) => ask(() => inner.ask(path, args, options)),
    run: (path, args, options) =>
      ask(async () => {
        const environment = mapValues(options.environment, there);
        const input = options.input === undefined ? {} : { input: there(options.input) };
        const { status, stdout, stderr } = await inner.run(path, args.map(there), {
          ...options,
          environment,
          ...input,
        });
        return { status, stdout: here(stdout), stderr: here(stderr) };
      }),
    processesIn: (directory) => ask(() => inner.processesIn(there(directory))),
  };
}

/** The question and its answer take their time; every other one takes three times as long as the one after it. */
function createLine(latencyMs: number): Ask {
  let count = 0;
  return async (question) => {
    const wayMs = (latencyMs / 2) * (count++ % 2 === 0 ? 1.5 : 0.5);
    await sleep(wayMs);
    try {
      return await question();
    } finally {
      await sleep(wayMs);
    }
  };
}

/** What is told unasked arrives late, but in its order. */
function createWire(latencyMs: number): InOrder {
  return (listener) => {
    let tail = Promise.resolve();
    return (news) => {
      const arrival = sleep(latencyMs / 2);
      tail = tail.then(() => arrival).then(() => listener(news));
    };
  };
}

/** What is still under way when nobody listens any more is not told. */
function untilClosed<T>(
  inOrder: InOrder,
  listener: (news: T) => void,
  open: (heard: (news: T) => void) => () => void,
): () => void {
  let isClosed = false;
  const close = open(inOrder((news: T) => (isClosed ? undefined : listener(news))));
  return () => {
    isClosed = true;
    close();
  };
}

/** What was waited for arrives late; what follows on it has been on its way meanwhile. */
async function* late<T>(pieces: AsyncIterable<T>, latencyMs: number): AsyncGenerator<T, void> {
  let askedAt = performance.now();
  for await (const piece of pieces) {
    if (performance.now() - askedAt > 1) await sleep(latencyMs / 2);
    yield piece;
    askedAt = performance.now();
  }
}

function mapValues(record: Readonly<Record<string, string>>, map: (text: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
