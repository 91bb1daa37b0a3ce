/** What every crash test shares: a daemon that is killed at a named point, and a log in which nothing stands twice. */
import { expect } from "vitest";
import { isDead, listProcesses } from "../../src/platform/process-table.ts";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";

/** Arms the point in the daemon that runs now, does the thing, and proves that the point was passed. */
export async function crashingAt(home: TestHome, point: string, act: () => Promise<void>): Promise<void> {
  const before = await home.daemonPid();
  home.failAt(point);
  await act();
  await eventually(`the daemon reaches ${point}`, () => !home.isFailpointArmed());
  // It takes the point's file away first, and may still answer until it is gone.
  await eventually(
    `the daemon dies at ${point}`,
    () => !listProcesses().some((row) => row.pid === before && !isDead(row)),
  );
  expect(await home.daemonPid()).not.toBe(before);
}

export async function expectEventLogComplete(home: TestHome): Promise<void> {
  const events = await home.events();
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  for (const name of ["session-starting", "session-exited", "session-running"]) {
    const incarnations = events
      .filter((event) => event.type === name)
      .map((event) => `${event.session_id} ${String(event.data["incarnation"])}`);
    expect(new Set(incarnations).size, `${name} twice for one incarnation`).toBe(incarnations.length);
  }
}
