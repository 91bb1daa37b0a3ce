/** An agent with turns, approvals and a transcript, through every surface. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { killIfThere } from "../support/kill.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";

let home: TestHome;
beforeAll(() => {
  home = createTestHome();
});
afterAll(() => home.dispose());

interface Waited {
  readonly done: boolean;
  readonly reason: string;
  readonly cursor: number;
}

interface Data {
  readonly source: string;
  readonly messages?: readonly { readonly role: string; readonly text: string }[];
  readonly text?: string;
  readonly session: { readonly observability: { readonly status: string; readonly expected: boolean } };
}

const wait = (name: string, reason: string): Promise<Waited> =>
  home.json<Waited>("wait", name, "--for", reason, "--timeout", "20");

test("before its first prompt the screen is shown, and the missing transcript is expected", async () => {
  await home.json("start", "practice", "--name", "fresh");
  const data = await home.json<Data>("data", "fresh");
  expect(data).toMatchObject({ source: "screen", session: { observability: { status: "pending", expected: true } } });
  await eventually("it is idle", async () => (await home.session("fresh"))["activity"] === "idle");
});

test("a turn: working, completed, and its messages in the transcript", async () => {
  const cursor = (await home.json<{ cursor: number }>("daemon", "status")).cursor;
  await home.json("start", "practice", "--name", "talker", "say something");
  expect(
    await home.json("wait", "talker", "--for", "turn-completed", "--since", String(cursor), "--timeout", "20"),
  ).toMatchObject({ done: true, reason: "turn-completed" });
  const data = await eventually("the transcript is observable", async () => {
    const found = await home.json<Data>("data", "talker");
    return found.source === "transcript" && found;
  });
  expect(data.messages?.map((message) => message.role)).toEqual(expect.arrayContaining(["user", "assistant"]));
  expect(data.messages?.find((message) => message.role === "user")?.text).toBe("say something");
  expect(await home.session("talker")).toMatchObject({
    activity: "idle",
    turns: 1,
    observability: { status: "observable" },
  });
});

test("messages sent while it works are taken one after the other", async () => {
  const since = (await home.json<{ cursor: number }>("daemon", "status")).cursor;
  for (const text of ["first", "second", "third"]) await home.run(["send", "talker", text, "--timeout", "0"]);
  await eventually("three turns more", async () => (await home.session("talker"))["turns"] === 4, 20_000);
  await eventually("they are over", async () => (await home.session("talker"))["activity"] === "idle");
  const { events } = await home.json<{ events: { type: string; session_id: string }[] }>(
    "events",
    "talker",
    "--since",
    String(since),
  );
  const turns = events.map((event) => event.type).filter((type) => type.startsWith("turn-"));
  expect(turns).toEqual([
    "turn-started",
    "turn-completed",
    "turn-started",
    "turn-completed",
    "turn-started",
    "turn-completed",
  ]);
  const { messages } = await home.json<Data>("data", "talker");
  expect(messages?.filter((message) => message.role === "user").map((message) => message.text)).toEqual([
    "say something",
    "first",
    "second",
    "third",
  ]);
});

test("an approval is asked for, and given", async () => {
  await home.json("start", "practice", "--name", "asker", "ask to list files");
  expect(await wait("asker", "awaiting-approval")).toMatchObject({ reason: "awaiting-approval" });
  expect(await home.session("asker")).toMatchObject({
    activity: "awaiting-approval",
    asks: expect.stringContaining("list files") as string,
  });
  const { cursor } = await home.json<{ cursor: number }>("daemon", "status");
  await home.json("send", "asker", "y");
  expect(
    await home.json("wait", "asker", "--for", "turn-completed", "--since", String(cursor), "--timeout", "20"),
  ).toMatchObject({ reason: "turn-completed" });
});

test("a turn that fails, and an agent that crashes, wake with that reason", async () => {
  const { cursor } = await home.json<{ cursor: number }>("daemon", "status");
  await home.json("start", "practice", "--name", "failer", "fail with 429");
  expect(await home.json("wait", "failer", "--since", String(cursor), "--timeout", "20")).toMatchObject({
    reason: "turn-failed",
  });
  await home.json("start", "practice", "--name", "crasher", "crash");
  expect(await wait("crasher", "exited")).toMatchObject({ reason: "exited" });
  expect(await home.session("crasher")).toMatchObject({ state: "error", exit: { code: 70 } });
});

test("an end waits for the turn, unless told to go on", async () => {
  await home.json("start", "practice", "--name", "busy", "sleep 2 then answer");
  await eventually("it works", async () => (await home.session("busy"))["activity"] === "working");
  await home.json("end", "busy");
  const { events } = await home.json<{ events: { type: string }[] }>("events", "busy");
  const types = events.map((event) => event.type);
  expect(types.indexOf("turn-completed")).toBeGreaterThan(types.indexOf("end-requested"));
  expect(types.indexOf("session-exited")).toBeGreaterThan(types.indexOf("turn-completed"));

  await home.json("start", "practice", "--name", "hasty", "sleep 30");
  await eventually("it works", async () => (await home.session("hasty"))["activity"] === "working");
  await home.json("end", "hasty", "--when", "now");
  expect(
    (await home.json<{ events: { type: string }[] }>("events", "hasty")).events.map((event) => event.type),
  ).not.toContain("turn-completed");
});

test("a turn that waits for an answer is not waited for", async () => {
  await home.json("start", "practice", "--name", "undecided", "ask to delete everything");
  await wait("undecided", "awaiting-approval");
  expect(await home.json("end", "undecided")).toMatchObject({ done: true, session: { state: "stopped" } });
});

test("a restart continues the conversation, also after kill -9 of agent and daemon", async () => {
  const { session_id } = await home.session("talker");
  for (const { pid } of home.marked(session_id)) killIfThere(pid);
  await home.killDaemon();
  await eventually("its death is known", async () => (await home.session("talker")).state === "error");
  await home.json("restart", "talker");
  await eventually("it is idle again", async () => (await home.session("talker"))["activity"] === "idle");
  await home.json("send", "talker", "do you remember");
  await eventually("it answered", async () => (await home.session("talker"))["turns"] === 5);
  const { messages } = await home.json<Data>("data", "talker");
  expect(messages?.filter((message) => message.role === "user").map((message) => message.text)).toEqual([
    "say something",
    "first",
    "second",
    "third",
    "do you remember",
  ]);
});

test("also of an agent that has exited by then", async () => {
  await home.json("start", "practice", "--name", "parting");
  await eventually("it is idle", async () => (await home.session("parting"))["activity"] === "idle");
  const { session_id } = await home.session("parting");
  await home.json("send", "parting", "sleep 1 and answer");
  await eventually("it works", async () => (await home.session("parting"))["activity"] === "working");
  await home.killDaemon();
  const { stdout: pane } = await runProgram(
    "tmux",
    ["-S", home.tmuxSocket, "list-panes", "-a", "-F", "#{pane_id} #{session_name}"],
    home.environment,
  );
  const target =
    pane
      .split("\n")
      .find((line) => line.endsWith(session_id))
      ?.split(" ")[0] ?? "";
  await runProgram("tmux", ["-S", home.tmuxSocket, "send-keys", "-t", target, "/quit", "Enter"], home.environment);
  await eventually("it is gone", () => home.marked(session_id).length === 0);
  await eventually("its last turn is known", async () =>
    (await home.events()).some((event) => event.session_id === session_id && event.type === "turn-completed"),
  );
});

test("what hooks wrote while there was no daemon is read by the next one, once", async () => {
  await home.json("start", "practice", "--name", "alone");
  await eventually("it is idle", async () => (await home.session("alone"))["activity"] === "idle");
  await home.json("send", "alone", "sleep 1 and answer");
  await eventually("it works", async () => (await home.session("alone"))["activity"] === "working");
  await home.killDaemon();
  const { session_id } = await eventually("the turn ended in the meantime", async () => {
    const found = await home.session("alone");
    return found["turns"] === 1 && found["activity"] === "idle" && found;
  });
  await home.killDaemon();
  const ends = (await home.events()).filter(
    (event) => event.session_id === session_id && event.type === "turn-completed",
  );
  expect(ends).toHaveLength(1);
});
