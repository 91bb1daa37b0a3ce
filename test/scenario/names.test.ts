/** One name, one living session: also when many ask at the same moment. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { askDaemon } from "../support/ask-daemon.ts";
import type { SessionRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
beforeEach(async () => {
  home = createTestHome();
  await home.json("daemon", "start");
});
afterEach(() => home.dispose());

type Answer = SessionRow & { readonly code?: string };

function start(name?: string): Promise<Answer | null> {
  const body = { agent: "command", args: ["sleep", "600"], cwd: "/", environment: { PATH: "/usr/bin:/bin" } };
  return askDaemon<Answer>(home, "/v1/sessions", { ...body, ...(name === undefined ? {} : { name }) });
}

test("50 starts at once without a name: 50 sessions, command-1 to command-50", { timeout: 90_000 }, async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => start()));
  const expected = Array.from({ length: 50 }, (_, index) => `command-${index + 1}`).toSorted();
  expect(answers.map((answer) => answer?.name ?? "none").toSorted()).toEqual(expected);
  expect((await home.list()).map((session) => session.name).toSorted()).toEqual(expected);
});

test("50 starts at once with one name: one is started, 49 are told who has the name", { timeout: 90_000 }, async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => start("solo")));
  expect(answers.filter((answer) => answer?.name === "solo")).toHaveLength(1);
  const refused = answers.filter((answer) => answer?.code === "name-taken");
  expect(refused).toHaveLength(49);
  const { session_id } = await home.session("solo");
  expect(refused[0]?.["detail"]).toBe(
    `There is already a session named solo (${session_id}); end it first, or choose another name.`,
  );
});

test("an ended session is not restarted under a name that another one has now", { timeout: 90_000 }, async () => {
  const first = await home.json<SessionRow>("start", "command", "--name", "heir", "--", "sleep", "600");
  await home.json("end", "heir", "--when", "now", "--grace", "0");
  const second = await home.json<SessionRow>("start", "command", "--name", "heir", "--", "sleep", "600");
  const refused = await home.run(["restart", first.session_id]);
  expect(refused).toMatchObject({ status: 1 });
  expect(refused.stderr).toContain(`There is already a session named heir (${second.session_id}); end it first`);
  expect(home.marked(first.session_id)).toEqual([]);
  await home.json("end", "heir", "--when", "now", "--grace", "0");
  const restarted = await home.run(["restart", first.session_id]);
  expect(restarted).toMatchObject({ status: 0 });
  expect(await home.json("explain", "heir")).toMatchObject({ session: { session_id: first.session_id } });
});
