import { afterEach, beforeEach, expect, test } from "vitest";
import type { EventBody } from "../session/event.ts";
import { putSession } from "./change.ts";
import { makeHome, makeSession, STARTED, type TestHome } from "./store-fixture.ts";

let home: TestHome;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

const admitted = (messageId: string): EventBody => ({ type: "message-admitted", messageId, bytes: 1 });
const isAdmission = ({ type }: EventBody): boolean => type === "message-admitted";

test("the newest event that fits: in memory, in the database, however far back, or none", async () => {
  const store = await home.open();
  await store.commit({ changes: [putSession(makeSession(home, "a"))] });
  const noise = (count: number) => Array.from({ length: count }, () => ({ sessionId: "a", body: STARTED }));
  await store.commit({ events: [{ sessionId: "a", body: admitted("old") }] });
  await store.commit({
    events: [
      { sessionId: "a", body: admitted("m") },
      { sessionId: "b", body: admitted("other") },
    ],
  });
  const fitting = (from: typeof store): EventBody | undefined => from.log.latest("a", isAdmission)?.body;
  expect(fitting(store)).toEqual(admitted("m"));
  // More than is held in memory, and more than a page of the database.
  for (let batch = 0; batch < 3; batch++) await store.commit({ events: noise(1_000) });
  expect(fitting(store)).toEqual(admitted("m"));
  expect(store.log.latest("b", isAdmission)?.body).toEqual(admitted("other"));
  expect(store.log.latest("c", isAdmission)).toBeUndefined();
  await store.close();
  expect(fitting(await home.open())).toEqual(admitted("m"));
});
