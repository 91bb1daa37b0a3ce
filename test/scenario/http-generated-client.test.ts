/**
 * A client made from `/openapi.json` by a public generator, which knows nothing
 * of Reeve: it compiles, and with it a session is started, waited for and ended.
 * It is made anew each time, in a temporary directory.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate } from "openapi-typescript-codegen";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { askDaemon } from "../support/ask-daemon.ts";
import { fetchOver } from "../support/socket-fetch.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
let dir: string;
beforeAll(async () => {
  home = createTestHome();
  dir = mkdtempSync(join(tmpdir(), "reeve-client-"));
  await home.json("daemon", "start");
  const input = await askDaemon<Record<string, unknown>>(home, "/openapi.json");
  await generate({
    input: input ?? {},
    output: join(dir, "client"),
    clientName: "Reeve",
    httpClient: "fetch",
    useOptions: true,
    useUnionTypes: true,
  });
  writeFileSync(join(dir, "use.ts"), USE);
});
afterEach(() => {
  vi.unstubAllGlobals();
});
afterAll(async () => {
  rmSync(dir, { recursive: true });
  await home.dispose();
});

/** What a program does with it; compiled against the generated types. */
const USE = `
import { ApiError, Reeve } from "./client/index";

export async function run(cwd: string) {
  const { sessions, events, daemon } = new Reeve({ BASE: "http://localhost" });
  const started = await sessions.startSession({
    idempotencyKey: "generated-1",
    requestBody: { agent: "command", args: ["sh", "-c", "echo ready; exit 3"], cwd, name: "made", environment: { PATH: "/usr/bin:/bin" } },
  });
  const waited = await sessions.waitForSession({
    session: started.session_id,
    _for: ["exited"],
    since: started.cursor,
    timeoutSeconds: 60,
  });
  const ended = await sessions.endSession({ session: started.session_id, requestBody: { when: "now" } });
  const listed = await sessions.listSessions({ all: true });
  const told = await events.readEvents({ session: started.session_id, since: started.cursor });
  const exits = told.events.flatMap((event) => (event.type === "session-exited" ? [event.data.exit.code] : []));
  const refused = await sessions.getSessionData({ session: "nobody" }).catch((error: unknown) => {
    if (error instanceof ApiError) return error.body as { readonly code: string };
    throw error;
  });
  return {
    name: started.name,
    reason: waited.reason,
    exit: waited.session.exit?.code,
    done: ended.done,
    state: ended.session.state,
    listed: listed.sessions.map(({ name }) => name),
    exits,
    refused: "code" in refused ? refused.code : null,
    socket: (await daemon.daemonStatus()).socket_path,
  };
}
`;

const OPTIONS = ["--noEmit", "--strict", "--target", "esnext", "--module", "esnext", "--moduleResolution", "bundler"];

test("it compiles, with what it is used for", () => {
  const tsc = join(import.meta.dirname, "..", "..", "node_modules", ".bin", "tsc");
  const args = [...OPTIONS, "--lib", "esnext,dom", "--types", "", "--ignoreConfig", join(dir, "use.ts")];
  expect(execFileSync(tsc, args, { encoding: "utf8", cwd: dir })).toBe("");
});

test("it starts a session, waits for it and ends it", async () => {
  vi.stubGlobal("fetch", fetchOver(home.socketPath));
  const { run } = (await import(join(dir, "use.ts"))) as { run(cwd: string): Promise<unknown> };
  expect(await run(home.dir)).toEqual({
    name: "made",
    reason: "exited",
    exit: 3,
    done: true,
    state: "stopped",
    listed: ["made"],
    exits: [3],
    refused: "unknown-session",
    socket: home.socketPath,
  });
  expect(await home.session("made")).toMatchObject({ state: "stopped", liveness: "exited" });
});
