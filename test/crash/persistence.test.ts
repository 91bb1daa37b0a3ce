/** kill -9 of the daemon while it writes what is kept of a session: each event is in its logs once. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { crashingAt } from "./crashing.ts";

let home: TestHome;
beforeAll(() => {
  home = createTestHome();
});
afterAll(() => home.dispose());

function numbers(id: string, name: string): readonly number[] {
  const text = readFileSync(join(home.dir, "outputs", "agents", "agent", id, name), "utf8");
  return text.split("\n").flatMap((line) => {
    if (line === "") return [];
    const { seq, kind } = JSON.parse(line) as { seq: number; kind: string };
    return kind === "log" ? [] : [seq];
  });
}

test.each(["keep.before-write", "keep.between-files", "keep.after-write"])("killed at %s", async (point) => {
  let id = "";
  await crashingAt(home, point, async () => {
    id = (await home.json<{ session_id: string }>("start", "practice", "fail again", "--persist-session")).session_id;
  });
  await eventually("its turn failed", async () =>
    (await home.events()).some(({ session_id: of, type }) => of === id && type === "turn-failed"),
  );
  await home.json("end", id, "--when", "now", "--grace", "0");
  const events = (await home.events()).filter(({ session_id: of }) => of === id);
  await eventually("everything is in session.log", () => {
    const written = numbers(id, "session.log").slice(0, events.length);
    return JSON.stringify(written) === JSON.stringify(events.map(({ seq }) => seq));
  });
  const told = events.filter(({ type }) => type === "turn-failed" || type === "session-exited").map(({ seq }) => seq);
  await eventually(
    "and in session_meta.log",
    () => JSON.stringify(numbers(id, "session_meta.log")) === JSON.stringify(told),
  );
  expect(new Set(numbers(id, "session.log")).size).toBe(numbers(id, "session.log").length);
});
