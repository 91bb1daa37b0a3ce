/**
 * With the real agents: a session of which nothing is kept runs as if
 * Reeve knew nothing of keeping. Its processes have the same environment,
 * arguments and open files as those of a session that is kept, but for what is
 * documented; there is no proxy, no file more, and nobody listens at a port. The
 * same look finds the capture proxy where there is one. And a compaction of the
 * one that is kept is told.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { listProcesses, readArguments } from "../../src/platform/process-table.ts";
import { eventually } from "../support/eventually.ts";
import { type AgentCase, CASES, createRig, disposeWhole, type Rig } from "./rig.ts";

interface Traits {
  readonly environment: readonly string[];
  readonly arguments: readonly string[];
  /** Of Reeve's own files, those that are open. */
  readonly open: readonly string[];
  /** In its directory. */
  readonly files: readonly string[];
}

interface Case {
  readonly agentCase: AgentCase;
  readonly title: string;
  /** What the session that is kept has more, and what it has instead of that. */
  readonly onlyOn: Traits;
  readonly onlyOff: Traits;
  /** What leads its processes to the capture proxy. */
  readonly proxied: Pick<Traits, "environment" | "arguments">;
  /** What to send so that it compacts. */
  readonly compacting: string;
}

const NOTHING: Traits = { environment: [], arguments: [], open: [], files: [] };
const KEPT = ["runtime.json", "session.log", "session_oai_raw.log", "terminal.cast"];

const AGENTS: readonly Case[] = [
  {
    agentCase: CASES.claude,
    title: CASES.claude.title,
    onlyOn: {
      ...NOTHING,
      environment: ["OTEL_LOG_RAW_API_BODIES=file:OUTPUTS/native"],
      files: [...KEPT, "native", "transcript.jsonl"],
    },
    onlyOff: NOTHING,
    proxied: { environment: ["ANTHROPIC_BASE_URL=PROXY/anthropic"], arguments: [] },
    compacting: "/compact",
  },
  {
    agentCase: CASES.codexAppServer,
    title: CASES.codexAppServer.title,
    onlyOn: {
      ...NOTHING,
      environment: ["CODEX_ROLLOUT_TRACE_ROOT=OUTPUTS/native"],
      open: ["OUTPUTS/native/trace-UUID-UUID/trace.jsonl"],
      files: [...KEPT, "native", "rollout-UUID.jsonl"],
    },
    onlyOff: NOTHING,
    proxied: { environment: [], arguments: ['model_providers.scripted.base_url="PROXY/provider"'] },
    compacting: "/compact",
  },
  {
    agentCase: CASES.gemini,
    title: CASES.gemini.title,
    onlyOn: {
      ...NOTHING,
      environment: ["GOOGLE_GEMINI_BASE_URL=PROXY/gemini", "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1"],
      files: [...KEPT, "session_oai_raw.log.open", "transcript.jsonl", "transcript.jsonl.held"],
    },
    onlyOff: { ...NOTHING, environment: ["GOOGLE_GEMINI_BASE_URL=MODEL"] },
    proxied: { environment: ["GOOGLE_GEMINI_BASE_URL=PROXY/gemini"], arguments: [] },
    // Of /compress its transcript does not say what came of it; with the settings of compressSoon it does it by itself.
    compacting: "[[say more]]",
  },
];

/** What belongs to keeping, wherever it stands. */
const OF_KEEPING =
  /^OTEL_|TRACE_ROOT|PROXY\/|capture|\bnative\b|_meta\.|_raw\.|runtime\.json|\.cast|transcript|rollout/;

test.concurrent.each(AGENTS)(
  "$title: not kept, nothing differs; kept, what is documented does, and a compaction is told",
  { timeout: 300_000 },
  async ({ agentCase, onlyOn, onlyOff, proxied, compacting }) => {
    const rig = await createRig(agentCase);
    try {
      if (agentCase.agent === "gemini") compressSoon(rig);
      const off = await started(rig, "off");
      expect({ proxies: proxies(rig), listening: listening(rig) }).toEqual({ proxies: [], listening: [] });
      expect(ofKeeping(rig, off)).toEqual(NOTHING);
      expect(existsSync(join(rig.home.dir, "capture.json"))).toBe(false);
      const on = await started(rig, "on", "--persist-session");
      const compare = (): object => {
        const [one, other] = [traitsOf(rig, off), traitsOf(rig, on)];
        return { onlyOn: without(other, one), onlyOff: without(one, other) };
      };
      const expected = { onlyOn: { ...onlyOn, files: onlyOn.files.toSorted() }, onlyOff };
      // Agents have programs of their own that come and go, and files take a moment.
      await eventually("only what is documented differs", () => isDeepStrictEqual(compare(), expected), 30_000).catch(
        () => expect(compare()).toEqual(expected),
      );
      expect(ofKeeping(rig, off)).toEqual(NOTHING);
      // What finds nothing there does find it here.
      const isProxied = onlyOn.environment.some((text) => text.includes("PROXY"));
      const through = isProxied ? on : await started(rig, "through", "--persist-session", "--capture", "proxy");
      expect(ofKeeping(rig, through)).toMatchObject(proxied);
      expect(ofKeeping(rig, through).files).toContain("session_oai_raw.log.open");
      expect(listening(rig)).toEqual(proxies(rig));
      await compacted(rig, on, compacting);
    } finally {
      await disposeWhole(rig);
    }
  },
);

interface Started {
  readonly id: string;
  readonly directory: string;
}

async function started(rig: Rig, name: string, ...options: readonly string[]): Promise<Started> {
  const { session_id: id } = await rig.start("[[say done]]", { options: ["--name", name, ...options] });
  expect(await rig.wait(id, "--since", "0")).toMatchObject({ reason: "turn-completed" });
  return { id, directory: String((await rig.home.session(id))["outputs_dir"]) };
}

/** A thousandth of the context is used up by the first prompt. */
function compressSoon({ user }: Rig): void {
  const path = join(user.dir, ".gemini", "settings.json");
  const settings = JSON.parse(readFileSync(path, "utf8")) as object;
  writeFileSync(path, JSON.stringify({ ...settings, model: { compressionThreshold: 0.001 } }));
}

async function compacted(rig: Rig, { id, directory }: Started, compacting: string): Promise<void> {
  await rig.home.json("send", id, compacting);
  const path = join(directory, "session_meta.log");
  const line = await eventually(
    "the compaction is in session_meta.log",
    () => {
      const texts = existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
      const lines = texts.map((text) => JSON.parse(text) as { readonly kind: string });
      return lines.find(({ kind }) => kind === "compacted");
    },
    90_000,
  );
  expect(line).toMatchObject({ kind: "compacted", actor: "agent", turn: expect.any(Number) as number });
  const { messages = [] } = await rig.data(id);
  // The summary is neither an answer nor a prompt.
  const summaries = messages.filter(({ text }) => /Scripted (?:summary|session)/.test(text));
  expect(summaries.map(({ role }) => role)).toEqual(["system"]);
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** What all processes of the agent itself have between them, with whatever belongs to the session in the place of names. */
function traitsOf(rig: Rig, session: Started): Traits {
  return traits(rig, session, (pid) => readArguments(pid).some((word) => word.includes("agent-programs")));
}

/** What belongs to keeping, in any process of the session. */
function ofKeeping(rig: Rig, session: Started): Traits {
  const { environment, arguments: words, open, files } = traits(rig, session, () => true);
  const found = (texts: readonly string[]): readonly string[] =>
    texts.filter((text) => OF_KEEPING.test(text) && !text.startsWith("PATH="));
  expect(words.length).toBeGreaterThan(0);
  return { environment: found(environment), arguments: found(words), open: found(open), files: found(files) };
}

function traits(rig: Rig, { id, directory }: Started, isMeant: (pid: number) => boolean): Traits {
  const plain = (text: string): string =>
    text
      .replaceAll(directory, "OUTPUTS")
      .replaceAll(id, "SESSION")
      .replaceAll(UUID, "UUID")
      .replaceAll(rig.model.url, "MODEL")
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+\/[\w-]{20,}/g, "PROXY")
      .replaceAll(/[0-9a-f]{12}\.sock/g, "SOCKET")
      .replace(/^REEVE_PASS=.*/, "REEVE_PASS")
      .replace(/^(TMUX|TMUX_PANE)=.*/, "$1");
  const pids = rig.home.marked(id).map(({ pid }) => pid);
  const own = pids.filter((pid) => isMeant(pid));
  const each = (read: (pid: number) => readonly string[]): readonly string[] =>
    [...new Set(own.flatMap((pid) => readOrNone(() => read(pid))).map(plain))].toSorted();
  return {
    environment: each((pid) => readFileSync(`/proc/${pid}/environ`, "utf8").split("\0")),
    arguments: each((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")),
    open: each((pid) =>
      descriptors(pid)
        .filter((path) => path.startsWith(rig.home.dir))
        .filter((path) => !path.startsWith(rig.user.dir) && !path.startsWith(rig.workDir)),
    ),
    files: readdirSync(directory)
      .filter((name) => !name.endsWith(".tmp"))
      .map(plain)
      .toSorted(),
  };
}

/** A process, or a descriptor, that is gone by now has nothing. */
function readOrNone(read: () => readonly string[]): readonly string[] {
  try {
    return read();
  } catch {
    return [];
  }
}

function without(one: Traits, other: Traits): Traits {
  const left = (name: keyof Traits): readonly string[] => one[name].filter((text) => !other[name].includes(text));
  return { environment: left("environment"), arguments: left("arguments"), open: left("open"), files: left("files") };
}

function proxies(rig: Rig): readonly number[] {
  const control = join(rig.home.dir, "run", "capture.sock");
  return listProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => readArguments(pid).includes(control));
}

/** Of the home, those that listen at a port. */
function listening(rig: Rig): readonly number[] {
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => readFileSync(table, "utf8").split("\n"));
  const rows = tables.map((row) => row.trim().split(/\s+/));
  const sockets = new Set(rows.filter((row) => row[3] === "0A").map((row) => `socket:[${row[9]}]`));
  const marked = new Set(rig.home.marked().map(({ pid }) => pid));
  return listProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => marked.has(pid) || readArguments(pid).some((word) => word.includes(rig.home.dir)))
    .filter((pid) => descriptors(pid).some((path) => sockets.has(path)));
}

function descriptors(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  return readOrNone(() => readdirSync(folder)).flatMap((fd) => readOrNone(() => [readlinkSync(`${folder}/${fd}`)]));
}
