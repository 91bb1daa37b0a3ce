/**
 * Pictures and counts of who uses whom in src/.
 *
 *     node script/import-graph.ts [--src <directory>] [--paths]
 *
 * prints how long the walk of one session is, for this tree or for another
 * (an older commit: `git archive <commit> src | tar -x -C <directory>`).
 *
 * A walk is a list of ways, each from one function to another, because between
 * them stands a process (the socket), a promise or a listener. For each way the
 * shortest chain of calls is taken from `call-graph.ts`, the first in
 * alphabetical order among equals. Two numbers come of it:
 *
 *  - on the path: the different files of the functions in the chains. Nobody
 *    can follow the walk without opening them.
 *  - beside it: the files of all functions that those in the chains mention,
 *    without platform/: what one may have to open to understand them.
 *
 * A bag is what a function takes as one parameter, or an interface that it
 * takes, and its width the number of properties that hold functions, those of
 * its bases too.
 *
 * `docs/spec/rooms.md` is made from the imports by generate-docs.ts; the counts
 * are written down by hand in docs/spec/walks.md, before and after a large
 * change: as a checked document they would be stale after every commit.
 */
import { join } from "node:path";
import { argv } from "node:process";
import { type CallGraph, type Program, readProgram } from "./call-graph.ts";
import { importsOf, roomOf, sourceFiles } from "./source-imports.ts";

/** Room, file and function; the file may be in a room of the room. */
type Point = readonly [room: string, file: string, name: string];

const SERVER: Point = ["surface", "server.ts", "createHttpServer"];
const DURABLE: Point = ["store", "sqlite.ts", "transaction"];

export const WALKS: Readonly<Record<string, readonly (readonly Point[])[]>> = {
  "from reeve start to durable": [
    [
      ["surface", "main.ts", "main"],
      ["surface", "start.ts", "run"],
      ["client", "create-client.ts", "startSession"],
      ["client", "request.ts", "exchange"],
    ],
    [SERVER, ["operation", "start-session.ts", "run"], ["supervisor", "ledger.ts", "plan"], DURABLE],
  ],
  "from durable to a running pane": [
    [
      ["supervisor", "effect-runner.ts", "poke"],
      ["supervisor", "effects.ts", "create"],
      ["runtime", "tmux-runtime.ts", "create"],
      ["runtime", "control-connection.ts", "request"],
    ],
    [["supervisor", "ledger.ts", "apply"], DURABLE],
  ],
  "from a hook to a wake": [
    [["supervisor", "spool.ts", "drain"], ["supervisor", "ledger.ts", "apply"], DURABLE],
    [
      ["store", "commit-queue.ts", "#flush"],
      ["store", "event-log.ts", "publish"],
    ],
    [SERVER, ["operation", "wait-for-session.ts", "run"], ["store", "event-log.ts", "follow"]],
  ],
};

export interface Walk {
  readonly chain: readonly string[];
  readonly onThePath: readonly string[];
  readonly beside: readonly string[];
}

export function walkOf({ files, calls }: Program, ways: readonly (readonly Point[])[]): Walk {
  const chain = ways.flatMap((points) => {
    const nodes = points.map((point) => nodeOf(files.keys(), point));
    return nodes.slice(1).flatMap((to, at) => shortest(calls, nodes[at] ?? "", to));
  });
  const onThePath = filesOf(chain);
  const mentioned = filesOf(chain.flatMap((node, at) => mentionedBy(node, chain[at + 1] ?? "")));
  return {
    chain: chain.filter((node, at) => node !== chain[at - 1]),
    onThePath,
    beside: mentioned.filter((file) => !onThePath.includes(file) && roomOf(file) !== "platform"),
  };

  /** Without the other providers of what is called next: the other operations of a table, the other adapters. */
  function mentionedBy(node: string, next: string): readonly string[] {
    return [...(calls.get(node) ?? [])].filter((target) => nameIn(target) !== nameIn(next) || target === next);
  }
}

export interface Bag {
  readonly name: string;
  readonly callbacks: readonly string[];
}

export function widestBag({ files }: Program): Bag {
  const bags = [...files].flatMap(([file, { takes }]) =>
    [...takes].flatMap(([name, types]) =>
      types.map((type) => ({
        name: `${file}#${name} takes ${type.name}`,
        callbacks: [...new Set(callbacksOf(type))],
      })),
    ),
  );
  return bags.reduce((widest, bag) => (bag.callbacks.length > widest.callbacks.length ? bag : widest), {
    name: "none",
    callbacks: [],
  });

  function callbacksOf({ file, name }: { readonly file: string; readonly name: string }): readonly string[] {
    const shape = files.get(file)?.shapes.get(name);
    if (shape === undefined) return [];
    const own = [...shape.members].filter(([, member]) => member.isCallback || isFunctionType(member.types));
    return [...own.map(([member]) => member), ...shape.bases.flatMap(callbacksOf)];
  }

  function isFunctionType(types: readonly { readonly file: string; readonly name: string }[]): boolean {
    return types.some(({ file, name }) => files.get(file)?.functionTypes.has(name) === true);
  }
}

/** The rooms as a Mermaid picture; without the two that nearly all import, which are named below it. */
export function renderRooms(root: string): string {
  const everywhere = ["platform", "session"];
  const edges = new Map<string, Map<string, boolean>>();
  for (const file of sourceFiles(root)) {
    const from = roomOf(file);
    const targets = edges.get(from) ?? new Map<string, boolean>();
    edges.set(from, targets);
    for (const { target, isType } of importsOf(root, file))
      if (roomOf(target) !== from) targets.set(roomOf(target), (targets.get(roomOf(target)) ?? true) && isType);
  }
  const rooms = [...edges.keys()].filter((room) => !everywhere.includes(room)).toSorted();
  const id = (room: string): string => room.replaceAll(/[^a-z]/g, "_");
  const lines = rooms.flatMap((room) =>
    [...(edges.get(room) ?? [])]
      .filter(([target]) => !everywhere.includes(target))
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([target, isType]) => `  ${id(room)} ${isType ? "-.->" : "-->"} ${id(target)}`),
  );
  const without = (used: string): string => {
    const rest = [...edges.keys()].filter((room) => room !== used && edges.get(room)?.has(used) !== true).toSorted();
    return `\`${used}/\` is imported by ${rest.length === 0 ? "all" : `all but ${rest.map((room) => `\`${room}\``).join(", ")}`}.`;
  };
  const picture = ["flowchart TD", ...rooms.map((room) => `  ${id(room)}["${room}"]`), ...lines].join("\n");
  return `\`\`\`mermaid\n${picture}\n\`\`\`\n\n${everywhere.map(without).join(" ")}\n`;
}

function nodeOf(files: Iterable<string>, [room, base, name]: Point): string {
  const found = [...files].filter((file) => file.startsWith(`${room}/`) && file.endsWith(`/${base}`));
  if (found.length === 0)
    throw new Error(`${room}/ has no ${base}: say in script/import-graph.ts where the walk goes now`);
  return `${found[0] ?? ""}#${name}`;
}

function shortest(calls: CallGraph, from: string, to: string): readonly string[] {
  const reachedFrom = new Map<string, string | null>([[from, null]]);
  for (const node of reachedFrom.keys()) {
    if (node === to) break;
    for (const next of [...(calls.get(node) ?? [])].toSorted()) if (!reachedFrom.has(next)) reachedFrom.set(next, node);
  }
  if (!reachedFrom.has(to))
    throw new Error(`no calls lead from ${from} to ${to}: say in script/import-graph.ts where the walk goes now`);
  const chain: string[] = [];
  for (let node: string | null = to; node !== null; node = reachedFrom.get(node) ?? null) chain.unshift(node);
  return chain;
}

function nameIn(node: string): string {
  return node.slice(node.indexOf("#") + 1);
}

function filesOf(nodes: readonly string[]): readonly string[] {
  return [...new Set(nodes.map((node) => node.slice(0, node.indexOf("#"))))];
}

if (import.meta.main) {
  const at = argv.indexOf("--src");
  const program = readProgram(at < 0 ? join(import.meta.dirname, "..", "src") : (argv[at + 1] ?? ""));
  for (const [name, ways] of Object.entries(WALKS)) {
    const { chain, onThePath, beside } = walkOf(program, ways);
    console.log(`${name}: ${onThePath.length} files on the path, ${beside.length} beside it`);
    if (argv.includes("--paths")) console.log(`  ${chain.join("\n  ")}`);
  }
  const { name, callbacks } = widestBag(program);
  console.log(`the widest bag: ${callbacks.length} callbacks (${name})`);
  if (argv.includes("--paths")) console.log(`  ${callbacks.join(", ")}`);
}
