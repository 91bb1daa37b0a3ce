/** Who asked, from the socket or a session to the list, the events and the explanation. */
import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { commandAgent } from "../../src/agent/command/command-agent.ts";
import { type DoorGround, makeDoorGround } from "../../src/operation/door-fixture.ts";
import { endSession } from "../../src/operation/end-session.ts";
import { getSession } from "../../src/operation/get-session.ts";
import { startSession } from "../../src/operation/start-session.ts";
import type { Caller } from "../../src/session/caller.ts";
import { makeTmuxFixture, type TmuxFixture } from "../conformance/tmux-fixture.ts";
import { eventually } from "../support/eventually.ts";
import { createTestHome, type EventRow, type TestHome } from "../support/test-home.ts";

const clearing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const clear of clearing.splice(0).toReversed()) await clear();
});

describe("over the socket", () => {
  function newHome(): TestHome {
    const home = createTestHome();
    clearing.push(() => home.dispose());
    return home;
  }

  /** As somebody would ask who would like to be taken for another. */
  function claim(home: TestHome, path: string, body: object, headers: Record<string, string> = {}): Promise<number> {
    return new Promise((resolve, reject) => {
      const asked = request({
        socketPath: home.socketPath,
        path,
        method: "POST",
        headers: {
          host: "localhost",
          "content-type": "application/json",
          "x-reeve-caller": "system",
          "x-reeve-session": "boss",
          "reeve-surface": "system",
          ...headers,
        },
      });
      asked.once("error", reject);
      asked.once("response", (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode ?? 0));
      });
      asked.end(JSON.stringify(body));
    });
  }

  test("it is the operator who asks, whatever a request says of itself, and that is shown everywhere", async () => {
    const home = newHome();
    await home.json("daemon", "start");
    const sleeper = { agent: "command", args: ["sleep", "600"], cwd: "/", name: "sleeper" };
    // A pass that is none does not make anybody the operator.
    for (const authorization of ["Bearer session:boss", "Bearer boss", "Basic b3BlcmF0b3I6"])
      expect(await claim(home, "/v1/sessions", sleeper, { authorization })).toBe(403);
    expect(await claim(home, "/v1/sessions", { ...sleeper, environment: { PATH: "/usr/bin:/bin" } })).toBe(200);
    await eventually("it runs", async () => (await home.session("sleeper")).state === "running");
    expect(await home.session("sleeper")).toMatchObject({ started_by: "operator", last_command: null });
    // A field that would say so is none.
    expect(await claim(home, "/v1/sessions/sleeper/pause?caller=system", {})).toBe(400);
    expect(await claim(home, "/v1/sessions/sleeper/pause", { caller: "system" })).toBe(400);
    expect(await home.session("sleeper")).toMatchObject({ last_command: null });
    expect(await claim(home, "/v1/sessions/sleeper/pause", {})).toBe(200);
    expect(await home.session("sleeper")).toMatchObject({ last_command: { command: "pause", by: "operator" } });

    const { session_id: id } = await home.session("sleeper");
    const events = (await home.events()) as readonly (EventRow & { readonly caller: string | null })[];
    const told = events.filter((event) => event.session_id === id).map(({ type, caller }) => [type, caller]);
    expect(told).toContainEqual(["session-planned", "operator"]);
    expect(told).toContainEqual(["session-running", null]);
    expect(told).toContainEqual(["session-paused", "operator"]);
    expect((await home.run(["events", "sleeper"])).stdout).toMatch(
      / {2}sleeper .*will be paused \(by the operator over HTTP\)\n/,
    );
    const { stdout } = await home.run(["explain", "sleeper"]);
    expect(stdout).toMatch(/Started by the operator\.\n\s+Last asked for: pause, by the operator \(/);
  });

  test("what streams says so in the description of the API, with who may call", async () => {
    const home = newHome();
    await home.json("daemon", "start");
    const api = await new Promise<string>((resolve, reject) => {
      const asked = request({ socketPath: home.socketPath, path: "/openapi.json", headers: { host: "localhost" } });
      asked.once("error", reject);
      asked.once("response", (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.once("end", () => resolve(text));
      });
      asked.end();
    });
    type Described = {
      readonly responses: { readonly "200": { readonly content: object } };
      readonly "x-callers": object;
    };
    const { paths } = JSON.parse(api) as { paths: Record<string, Record<string, Described>> };
    const all = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => ({ what: `${method} ${path}`, described })),
    );
    const streaming = all.filter(({ described }) => "text/event-stream" in described.responses["200"].content);
    expect(streaming.map(({ what }) => what).toSorted()).toEqual(["get /v1/events", "post /v1/images"]);
    expect(paths["/v1/approvals"]?.["post"]?.["x-callers"]).toEqual({ operator: "any", session: "below" });
  });
});

describe("a session that starts another", () => {
  const by = (id: string): Caller => ({ kind: "session", id });
  let tmux: TmuxFixture;
  let ground: DoorGround;

  test("is its parent, may look at it and end it, and nobody beside it may", async () => {
    tmux = await makeTmuxFixture();
    clearing.push(() => tmux.dispose());
    ground = await makeDoorGround([], { runtime: tmux.runtime, agents: [commandAgent] });
    clearing.push(() => ground.dispose());
    const { door, call, store } = ground;
    const input = {
      agent: "command",
      args: ["sleep", "600"],
      cwd: tmux.workDir,
      environment: { PATH: process.env["PATH"] },
    };
    await expect(door.invoke(startSession, { ...input, parent: "stranger" }, by("worker"), call)).rejects.toMatchObject(
      {
        code: "not-allowed",
        kind: "forbidden",
      },
    );
    const started = await door.invoke(startSession, input, by("worker"), call);
    const session = started.session_id;
    expect(started).toMatchObject({ parent_session_id: "worker", started_by: "session:worker" });
    const reason = { evidence: { source: "session", detail: "asked for by session worker" } };
    expect(await store.log.read({ after: 0, limit: 2, sessionIds: [session] })).toMatchObject([
      { caller: "session:worker", body: { type: "session-planned" } },
      { caller: "session:worker", body: { type: "session-starting", reason } },
    ]);
    // By the name of one of its own, as anybody would name it.
    const second = await door.invoke(startSession, { ...input, parent: started.name }, by("worker"), call);
    expect(second.parent_session_id).toBe(session);

    await eventually("both run", () =>
      [session, second.session_id].every((id) => store.registry.get(id)?.state === "running"),
    );
    expect((await door.invoke(getSession, { session: second.session_id }, by("boss"), call)).state).toBe("running");
    for (const other of ["stranger", "helper"])
      await expect(door.invoke(endSession, { session, when: "now" }, by(other), call)).rejects.toMatchObject({
        code: "not-allowed",
      });
    for (const id of [second.session_id, session])
      expect(await door.invoke(endSession, { session: id, when: "now" }, by("worker"), call)).toMatchObject({
        done: true,
        session: { state: "stopped", last_command: { command: "end", by: "session:worker" } },
      });
  });
});
