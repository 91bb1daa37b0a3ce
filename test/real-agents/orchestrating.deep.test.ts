/**
 * Each real agent as an orchestrator in a session: it has Reeve's tools without
 * any set-up, starts a worker, waits for it, reads its reply and ends it, and
 * the story of the seeds with a Codex worker before its first turn is over.
 * REEVE_TEST_FIRST_TURN_SECONDS makes that turn longer.
 */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AGENT_PROGRAMS } from "../agent-programs/agent-programs.ts";
import { codexHome } from "../scripted-model/agent-homes.ts";
import { eventually } from "../support/eventually.ts";
import { killIfThere } from "../support/kill.ts";
import {
  addOwnServer,
  answersOf,
  call,
  callersOf,
  evidenceOf,
  expectDone,
  lookFor,
  perform,
  requestsOf,
  toolName,
} from "./orchestrator.ts";
import type { AgentCase, Rig } from "./rig.ts";
import { CASES, createRig, disposeWhole } from "./rig.ts";
import { endNow } from "./session-steps.ts";

const FIRST_TURN_SECONDS = Number(process.env["REEVE_TEST_FIRST_TURN_SECONDS"] ?? "4");

/** Codex asks by itself only about what may destroy something; the others about whatever no rule allows. */
const agents: readonly { readonly agentCase: AgentCase; readonly asksFor: readonly string[] }[] = [
  { agentCase: CASES.codexAppServer, asksFor: ["end_session"] },
  { agentCase: CASES.claude, asksFor: ["start_session", "end_session"] },
  { agentCase: CASES.gemini, asksFor: ["start_session", "end_session"] },
];

const TOOLS = ["list_sessions", "start_session", "wait_for_session", "get_session_data", "end_session"] as const;

describe.each(agents)("$agentCase.title", { timeout: (60 + FIRST_TURN_SECONDS) * 1_000 }, ({ agentCase, asksFor }) => {
  const { agent, title } = agentCase;
  const tool = (name: (typeof TOOLS)[number], input: object): string => call(agent, name, input);
  const names = [...TOOLS.map((name) => toolName(agent, name)), toolName(agent, "list_sessions", "mine")];
  let rig: Rig;
  let id: string;
  /** A Codex that takes its time to come up: what it writes is not there when it is asked for early. */
  let slowCodex: string;

  beforeAll(async () => {
    rig = await createRig(agentCase);
    addOwnServer(agent, rig.user.dir);
    // The workers are Codex, whoever the orchestrator is.
    if (agent !== "codex") await codexHome(rig.user.dir, rig.model.url, { trust: [rig.workDir] });
    slowCodex = join(rig.home.dir, "slow-codex");
    mkdirSync(slowCodex);
    const real = join(AGENT_PROGRAMS, "codex");
    const script = `#!/bin/sh\n[ "$1" = app-server ] && sleep 2\nexec '${real}' "$@"\n`;
    writeFileSync(join(slowCodex, "codex"), script);
    chmodSync(join(slowCodex, "codex"), 0o755);
  });
  afterAll(() => disposeWhole(rig), 60_000);

  async function ask(prompt: string): Promise<string> {
    const { cursor } = await rig.home.json<{ cursor: number }>("send", id, prompt, "--timeout", "20");
    return String(cursor);
  }

  function worker(name: string, seconds: number): object {
    const path = `${slowCodex}:${rig.user.environment["PATH"]}`;
    return {
      agent: "codex",
      name,
      prompt: `[[delay ${seconds}s]] [[say the answer of ${name}]]`,
      // Where only Codex's own announcements would go.
      env: { PATH: path, HTTPS_PROXY: "http://127.0.0.1:9" },
    };
  }

  test("it has the tools, starts a worker, waits for it, reads its reply and ends it", async () => {
    const prompt = [
      lookFor(agent, names),
      tool("list_sessions", {}),
      tool("start_session", { agent: "practice", name: "helper", prompt: "say hello" }),
      tool("wait_for_session", { session: "{{session_id}}", since: "{{cursor}}" }),
      tool("get_session_data", { session: "helper" }),
      tool("end_session", { session: "helper" }),
      "[[say orchestrated]]",
    ].join(" ");
    // Gemini CLI hides variables like this one from its MCP servers, and Codex all of them.
    const environment = { SCRIPTED_MODEL_KEY: "scripted-dummy-key" };
    ({ session_id: id } = await rig.start(prompt, { environment }));
    const performed = await perform(rig, id, "0");
    const evidence = await evidenceOf(rig, id, `${title}, a worker`);
    expectDone(performed, asksFor, evidence);

    // It knows of them from its first request on.
    expect(JSON.stringify(requestsOf(rig, prompt)[0]), evidence).not.toContain("still connecting");
    expect(JSON.stringify(requestsOf(rig, prompt)[0]), evidence).toContain(toolName(agent, "start_session"));
    const offered = requestsOf(rig, prompt).at(-1)?.offered ?? [];
    expect(offered, evidence).toEqual(expect.arrayContaining(names));
    const [listed, started, waited, read, ended] = answersOf(rig, prompt);
    const helper = String(started?.["session_id"]);
    expect(listed, evidence).toMatchObject({ sessions: [{ session_id: id }] });
    expect(started, evidence).toMatchObject({ name: "helper", parent_session_id: id });
    expect(waited, evidence).toMatchObject({ done: true, reason: "turn-completed", session: { session_id: helper } });
    expect(read, evidence).toMatchObject({ session: { session_id: helper } });
    expect(JSON.stringify(read), evidence).toContain("only practice");
    expect(ended, evidence).toMatchObject({ done: true, session: { state: "stopped" } });
    const by = `session:${id}`;
    expect(await callersOf(rig, helper)).toEqual([
      `session-planned ${by}`,
      `session-starting ${by}`,
      `end-requested ${by}`,
    ]);
    expect(rig.home.marked(helper)).toEqual([]);
  });

  test("a Codex worker is pending at first, which is expected; it is waited for, read, ended and gone", async () => {
    const prompt = [
      lookFor(agent, names),
      tool("start_session", worker("coder", FIRST_TURN_SECONDS)),
      tool("get_session_data", { session: "coder" }),
      tool("wait_for_session", { session: "coder", since: "{{cursor}}" }),
      tool("get_session_data", { session: "coder" }),
      tool("end_session", { session: "coder" }),
      tool("list_sessions", {}),
      "[[say all ended]]",
    ].join(" ");
    const performed = await perform(rig, id, await ask(prompt));
    const evidence = await evidenceOf(rig, id, `${title}, a Codex worker`);
    expectDone(performed, asksFor, evidence);

    const [started, early, waited, read, ended, listed] = answersOf(rig, prompt);
    const coder = String(started?.["session_id"]);
    expect(early, evidence).toMatchObject({
      session: { session_id: coder, observability: { status: "pending", expected: true }, wait: "notification" },
    });
    expect(JSON.stringify(early), evidence).toContain("wait");
    expect(waited, evidence).toMatchObject({ done: true, reason: "turn-completed", session: { session_id: coder } });
    expect(JSON.stringify(waited), evidence).toContain("the answer of coder");
    expect(JSON.stringify(read), evidence).toContain("the answer of coder");
    expect(ended, evidence).toMatchObject({ done: true, session: { state: "stopped" } });
    expect(JSON.stringify(listed), evidence).not.toContain(coder);
    const types = (await rig.events(coder)).map(({ type }) => type);
    expect(types.indexOf("end-requested")).toBeGreaterThan(types.indexOf("turn-completed"));
    expect(rig.home.marked(coder)).toEqual([]);
  });

  test("a worker that is killed in its first turn wakes the one that waits for it", async () => {
    const prompt = [
      lookFor(agent, names),
      tool("start_session", worker("victim", 600)),
      tool("wait_for_session", { session: "victim", since: "{{cursor}}" }),
      tool("end_session", { session: "victim" }),
      "[[say it died]]",
    ].join(" ");
    const performing = perform(rig, id, await ask(prompt));
    const victim = await eventually(
      "its turn is under way and it is waited for",
      async () => {
        const found = (await rig.home.list()).find(({ name }) => name === "victim");
        const isAsked = rig
          .asked()
          .some(
            ({ prompt: said, outcome }) =>
              said.includes("victim]]") && outcome === undefined && said.startsWith("[[delay"),
          );
        const isWaited = requestsOf(rig, prompt).some(({ calls }) =>
          calls.some(({ name }) => name.endsWith("wait_for_session")),
        );
        return found !== undefined && found["turn_open"] === true && isAsked && isWaited && found.session_id;
      },
      40_000,
    );
    killAll(rig, victim);
    const performed = await performing;
    const evidence = await evidenceOf(rig, id, `${title}, a worker that is killed`);
    expectDone(performed, asksFor, evidence);

    const [, waited, ended] = answersOf(rig, prompt);
    expect(waited, evidence).toMatchObject({ done: true, reason: "exited", session: { session_id: victim } });
    expect(ended, evidence).toMatchObject({ done: true, session: { state: "stopped" } });
    const exited = (await rig.home.events()).find(
      ({ type, session_id: whose }) => type === "session-exited" && whose === victim,
    );
    const died = Date.parse((exited as unknown as { readonly at: string }).at);
    const told = requestsOf(rig, prompt).find(({ results }) => results.at(-1)?.includes('"reason":"exited"'))?.at;
    console.log(`${title}: the model was asked again ${(told ?? Infinity) - died} ms after the death was recorded`);
    expect((told ?? Infinity) - died, evidence).toBeLessThan(2_000);
    await endNow(rig, id);
  });
});

/** Some of them end while the others are killed. */
function killAll(rig: Rig, session: string): void {
  for (const { pid } of rig.home.marked(session)) killIfThere(pid);
}
