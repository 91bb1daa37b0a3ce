/** What a runtime that takes its time says of a session's secrets. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Session } from "../../session/session.ts";
import { putSession } from "../../store/change.ts";
import { nextRevision } from "../../store/store-fixture.ts";
import { createSessionSecrets, type SessionSecrets } from "./session-secrets.ts";
import { agentWith, type Ground, makeGround } from "./watch-fixture.ts";

const NAMES = { API_TOKEN: "tok3n-value-one" };
const SECRET = [expect.objectContaining({ value: "tok3n-value-one" })];

let ground: Ground;
let secrets: SessionSecrets;
let questions: ((environment: Readonly<Record<string, string>> | null) => void)[];
beforeEach(async () => {
  ground = await makeGround(agentWith({}));
  questions = [];
  const environmentOf = () =>
    new Promise<Readonly<Record<string, string>> | null>((resolve) => questions.push(resolve));
  secrets = createSessionSecrets({ store: ground.store, runtime: () => ({ environmentOf }) });
});
afterEach(() => ground.dispose());

test("the process is asked once, however many want to know, and what it said stays known", async () => {
  const both = Promise.all([secrets.learn("s"), secrets.learn("s")]);
  expect([questions.length, secrets.known("s"), secrets.isSettled(ground.session())]).toEqual([1, null, false]);
  questions[0]?.(NAMES);
  expect(await both).toEqual([SECRET, SECRET]);
  expect([secrets.known("s"), secrets.isSettled(ground.session())]).toEqual([SECRET, true]);
  expect([await secrets.learn("s"), questions.length]).toEqual([SECRET, 1]);
});

test("a process that could not say has been asked, and may be asked again", async () => {
  const first = secrets.learn("s");
  questions[0]?.(null);
  expect([await first, secrets.isSettled(ground.session())]).toEqual([null, true]);
  const second = secrets.learn("s");
  questions[1]?.(NAMES);
  expect(await second).toEqual(SECRET);
});

test("a late answer does not replace what the next incarnation was told", async () => {
  const late = secrets.learn("s");
  secrets.tell(ground.session(), { API_TOKEN: "tok3n-value-two" });
  questions[0]?.(NAMES);
  await late;
  expect(secrets.known("s")).toEqual([expect.objectContaining({ value: "tok3n-value-two" })]);
});

test("an answer about an incarnation that another has followed is not kept", async () => {
  const late = secrets.learn("s");
  const next = nextRevision(ground.session(), { process: { incarnation: 2 } });
  await ground.store.commit({ changes: [putSession(next)] });
  questions[0]?.(NAMES);
  expect([await late, secrets.known("s"), secrets.isSettled(ground.session())]).toEqual([SECRET, null, false]);
});

test("nor is one that arrives when the session is over", async () => {
  const late = secrets.learn("s");
  const session: Session = { ...ground.session(), state: "stopped", revision: ground.session().revision + 1 };
  await ground.store.commit({ changes: [putSession(session)] });
  questions[0]?.(NAMES);
  expect([await late, secrets.known("s")]).toEqual([SECRET, null]);
});
