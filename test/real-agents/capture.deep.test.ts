/**
 * With the real agents: what is recorded of their traffic is what the
 * model received and sent, in both ways; a secret of the session is in none of
 * its files; what headers say of limits reaches the quota breaker; and a daemon
 * or a capture proxy that is killed in the middle of a request ends no turn.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listProcesses, readArguments } from "../../src/platform/process-table.ts";
import type { KeptExchange } from "../scripted-model/scripted-model.ts";
import { eventually } from "../support/eventually.ts";
import { filesHolding } from "../support/files-holding.ts";
import { type RawExchange, readExchanges, readRawLog } from "../support/raw-log.ts";
import { type AgentCase, CASES, createRig, disposeWhole, type Rig } from "./rig.ts";
import { endNow } from "./session-steps.ts";

const SECRET = "c4n4ry-7f3a91d2e8b64c05a1-end";

const WAYS: readonly (readonly [way: "native" | "proxy", agentCase: AgentCase])[] = [
  ["native", CASES.claude],
  ["proxy", CASES.claude],
  ["native", CASES.codexAppServer],
  ["proxy", CASES.codexAppServer],
  ["proxy", CASES.codexHooks],
  ["proxy", CASES.gemini],
];

test.concurrent.each(WAYS.map(([way, agentCase]) => ({ way, agentCase, title: agentCase.title })))(
  "$title, $way: what is recorded is what was received and sent, without a secret",
  { timeout: 180_000 },
  async ({ way, agentCase }) => {
    await withRig(agentCase, async (rig) => {
      const said = `[[used 83]] [[shell echo ${SECRET}]] [[say it is ${SECRET}, that is all]]`;
      const { session_id: id } = await rig.start(said, {
        options: ["--persist-session", "--capture", way, "--debug-log", "own.log", "--env", `API_VALUE=${SECRET}`],
      });
      const waited = await rig.wait(id, "--since", "0");
      if (waited.reason === "awaiting-approval")
        expect((await rig.home.run(["approve", id, "--wait", "--timeout", "90", "--json"])).status).toBe(0);
      else expect(waited).toMatchObject({ reason: "turn-completed" });
      // Gemini's API has no such headers.
      if (way === "proxy" && agentCase.agent !== "gemini") await limitsAreKnown(rig);
      const directory = await directoryOf(rig, id);
      await endNow(rig, id);
      const sent = rig.model.exchanges();
      await eventually("all exchanges are recorded", () => ended(directory).length >= sent.length);
      if (way === "proxy") compareBytes(sent, readExchanges(directory));
      else compareNative(sent, readExchanges(directory));
      expect(existsSync(join(directory, "native"))).toBe(false);
      expect(readFileSync(join(directory, "own.log"), "utf8")).not.toBe("");
      await rig.home.json("daemon", "stop");
      expect(leaks(rig)).toEqual([]);
    });
  },
);

test.concurrent.each([CASES.codexAppServer, CASES.claude, CASES.gemini])(
  "$title goes on when the daemon, and then the proxy, is killed in the middle of a request",
  { timeout: 180_000 },
  async (agentCase) => {
    await withRig(agentCase, async (rig) => {
      const { session_id: id } = await rig.start("[[stream 6 300ms]] [[say one two three four five six]]", {
        options: ["--persist-session", "--capture", "proxy"],
        ...PATIENT[agentCase.agent],
      });
      await rig.model.waitFor((request) => !request.hidden && request.outcome === undefined, 60_000);
      const [proxy, port] = [proxyPid(rig), portOf(rig)];
      await rig.home.killDaemon();
      expect(await rig.wait(id, "--since", "0")).toMatchObject({ reason: "turn-completed" });
      // The stream was not cut: nothing was asked a second time.
      expect(rig.asked().map(({ outcome }) => outcome)).toEqual(["answered"]);
      expect({ proxy: proxyPid(rig), port: portOf(rig) }).toEqual({ proxy, port });

      const since = await rig.cursor(id);
      await rig.home.json("send", id, "[[stream 6 300ms]] [[say seven eight nine ten]]");
      await rig.model.waitFor(
        (request) => request.prompt.includes("nine ten") && request.outcome === undefined,
        60_000,
      );
      process.kill(proxy ?? 0, "SIGKILL");
      const { reason } = await rig.wait(id, "--since", since);
      // Gemini CLI asks again most of the time, and sometimes gives the turn up (docs/spec/agent-behaviors/gemini.md).
      expect(agentCase.agent === "gemini" ? ["turn-completed", "turn-failed"] : ["turn-completed"]).toContain(reason);
      const again = await rig.cursor(id);
      await rig.home.json("send", id, "[[say eleven]]");
      expect(await rig.wait(id, "--since", again)).toMatchObject({ reason: "turn-completed" });
      expect({ port: portOf(rig), isAnother: proxyPid(rig) !== proxy }).toEqual({ port, isAnother: true });
      const directory = await directoryOf(rig, id);
      await endNow(rig, id);
      // What was not written by then is told of, once.
      const gaps = readRawLog(directory).filter(({ kind }) => kind === "gap");
      expect(gaps).toHaveLength(1);
      const { stdout } = await rig.home.run(["show", id, "--only", "api"]);
      expect(stdout.match(/the capture proxy was killed: calls to the model between .* may be missing/g)).toHaveLength(
        1,
      );
      const [first, last] = [ended(directory).at(0), ended(directory).at(-1)];
      expect([first?.end?.outcome, last?.end?.outcome]).toEqual(["complete", "complete"]);
      // Nobody needs it any more.
      await eventually("the proxy has ended", () => proxyPid(rig) === undefined, 20_000);
    });
  },
);

test.concurrent.each([
  { point: "native.written", way: "native", agentCase: CASES.claude },
  { point: "capture-proxy.before-start", way: "proxy", agentCase: CASES.codexHooks },
  { point: "capture-proxy.after-start", way: "proxy", agentCase: CASES.codexHooks },
] as const)(
  "a daemon killed at $point: one proxy, and every line once",
  { timeout: 180_000 },
  async ({ point, way, agentCase }) => {
    await withRig(agentCase, async (rig) => {
      await rig.home.daemonPid();
      rig.home.failAt(point);
      const { session_id: id } = await rig.start("[[say done]]", { options: ["--persist-session", "--capture", way] });
      expect(await rig.wait(id, "--since", "0")).toMatchObject({ reason: "turn-completed" });
      await eventually(`it was killed at ${point}`, () => !rig.home.isFailpointArmed());
      const directory = await directoryOf(rig, id);
      await eventually("all is recorded", () => ended(directory).length >= rig.model.exchanges().length);
      await endNow(rig, id);
      const names = readRawLog(directory).map(({ exchange, kind, n }) => `${exchange} ${kind} ${n ?? ""}`);
      expect(new Set(names).size).toBe(names.length);
    });
  },
);

/** As often as they try again unless told otherwise: a rig lets them give up soon. */
const PATIENT = {
  claude: { environment: { CLAUDE_CODE_MAX_RETRIES: "10" } },
  codex: {
    args: ["request", "stream"].flatMap((what) => ["-c", `model_providers.scripted.${what}_max_retries=5`]),
  },
  gemini: {},
} as const;

async function withRig(agentCase: AgentCase, use: (rig: Rig) => Promise<void>): Promise<void> {
  const rig = await createRig(agentCase, { model: { keepsBytes: true } });
  try {
    await use(rig);
  } finally {
    await disposeWhole(rig);
  }
}

async function limitsAreKnown(rig: Rig): Promise<void> {
  const quotas = async (): Promise<string> => (await rig.home.run(["quota", "--json"])).stdout;
  await eventually("the breaker knows what is used", async () => (await quotas()).includes('"used_percent":83'));
  expect(await quotas()).toContain('"source":"protocol"');
}

async function directoryOf(rig: Rig, id: string): Promise<string> {
  return String((await rig.data(id)).session["outputs_dir"]);
}

function proxyPid(rig: Rig): number | undefined {
  const control = join(rig.home.dir, "run", "capture.sock");
  return listProcesses().find(({ pid }) => readArguments(pid).includes(control))?.pid;
}

function portOf(rig: Rig): unknown {
  return (JSON.parse(readFileSync(join(rig.home.dir, "capture.json"), "utf8")) as { readonly port: unknown }).port;
}

function ended(directory: string): readonly RawExchange[] {
  if (!existsSync(join(directory, "session_oai_raw.log"))) return [];
  return readExchanges(directory).filter(({ end }) => end !== undefined);
}

/** Puts in the place of the secret what stands for it in these exchanges. */
function cleaner(recorded: readonly RawExchange[]): (text: string) => string {
  const placeholder = /\[redacted [0-9a-f]{6}\]/.exec(recorded.map(({ request }) => request).join("\n"))?.[0] ?? "";
  expect(placeholder).not.toBe("");
  return (text) => text.replaceAll(SECRET, placeholder);
}

/** Of a proxy, byte for byte. */
function compareBytes(sent: readonly KeptExchange[], recorded: readonly RawExchange[]): void {
  const clean = cleaner(recorded);
  const textOf = (bytes: readonly Buffer[]): string => clean(Buffer.concat(bytes).toString("utf8"));
  const pathOf = (url: string): string => new URL(url).pathname + new URL(url).search;
  expect(recorded.map(({ url, request, response }) => ({ path: pathOf(url), request, response }))).toEqual(
    sent.map(({ path, request, response }) => ({ path, request: textOf(request), response: textOf(response) })),
  );
  for (const { captured, end, headers } of recorded) {
    const { outcome, status } = end ?? {};
    expect({ captured, outcome, status }).toEqual({ captured: "proxy", outcome: "complete", status: 200 });
    expect(headers.length).toBeGreaterThan(0);
  }
}

/** Of what agents write: the same requests as JSON, and whole answers instead of streams. */
function compareNative(sent: readonly KeptExchange[], recorded: readonly RawExchange[]): void {
  const clean = cleaner(recorded);
  const asked = sent.map(({ request }) => JSON.parse(clean(Buffer.concat(request).toString("utf8"))) as object);
  for (const { request, captured, end } of recorded) {
    // Claude Code sends those as a header.
    const { betas: _betas, ...body } = JSON.parse(request) as { readonly betas?: unknown };
    expect(asked).toContainEqual(body);
    expect({ captured, outcome: end?.outcome }).toEqual({ captured: "native", outcome: "complete" });
    expect(end?.usage?.["output_tokens"]).toBeGreaterThan(0);
  }
  expect(recorded.length).toBe(asked.length);
  expect(recorded.at(-1)?.response).toContain(clean(`it is ${SECRET}, that is all`));
}

/** Conversations of Gemini CLI, below a home of its own, and the copy of one: this is about what is captured. */
const GEMINIS = /\/reeve-gemini-home\//;

function leaks({ home, user, workDir }: Rig): readonly string[] {
  return filesHolding(home.dir, [SECRET.slice(0, 12), SECRET.slice(-12)]).filter(
    (path) => !path.startsWith(user.dir) && !path.startsWith(workDir) && !GEMINIS.test(path),
  );
}
