import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeLaunch } from "../../agent/agent-fixture.ts";
import { localFiles } from "../../runtime/local-files.ts";
import { amend } from "../../session/amend.ts";
import type { Session } from "../../session/session.ts";
import { makeSession } from "../../store/store-fixture.ts";
import { createLoginWatch } from "./login-watch.ts";
import { agentWith } from "./watch-fixture.ts";
import type { Watcher } from "./watcher.ts";

let user: string;
let watch: Watcher;
let said: string[];
let hour: number;
beforeEach(() => {
  user = mkdtempSync(join(tmpdir(), "reeve-login-"));
  said = [];
  hour = 0;
  watch = createLoginWatch({
    agent: () =>
      agentWith({ homeParts: () => [{ path: ".claude/.credentials.json", source: outside(), how: "in-step" }] }),
    runtime: () => ({ files: localFiles }),
    log: (message, fields) => void said.push(`${message} ${JSON.stringify(fields)}`),
  });
});
afterEach(async () => {
  await watch.close();
  rmSync(user, { recursive: true, force: true });
});

const outside = (): string => join(user, ".claude", ".credentials.json");
const inside = (id: string): string =>
  join(user, "outputs", "agents", id, "agent-home", ".claude", ".credentials.json");

/** As Claude Code does it: a new file, renamed over the old one; each an hour after the last. */
function renew(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.tmp`, text);
  hour += 1;
  utimesSync(`${path}.tmp`, new Date(hour * 3_600_000), new Date(hour * 3_600_000));
  renameSync(`${path}.tmp`, path);
}

function session(id: string): Session {
  const container = { image: "x", cpus: null, memoryBytes: null, pids: null, network: "none" as const, mounts: [] };
  const launch = makeLaunch({ container, cwd: "/work", paths: { PATH: "/bin", HOME: user } });
  const made = makeSession({ outputsRoot: join(user, "outputs") }, id, { state: "running" });
  return amend(made, { identity: { launch, outputsDir: join(user, "outputs", "agents", id) } });
}

const reads = (path: string, text: string): Promise<void> =>
  expect.poll(() => readFileSync(path, "utf8"), { timeout: 20_000 }).toBe(text);

test("a renewal on one side reaches the other, and every other session", async () => {
  renew(inside("one"), `{"refresh":0}`);
  renew(inside("two"), `{"refresh":0}`);
  renew(outside(), `{"refresh":1}`);
  watch.attend(session("one"));
  watch.attend(session("two"));
  // What was renewed while nobody watched.
  await reads(inside("one"), `{"refresh":1}`);
  await reads(inside("two"), `{"refresh":1}`);

  hour = Math.ceil(Date.now() / 3_600_000) + 1;
  renew(inside("one"), `{"refresh":2}`);
  await reads(outside(), `{"refresh":2}`);
  await reads(inside("two"), `{"refresh":2}`);
  hour += 2;
  renew(outside(), `{"refresh":3}`);
  await reads(inside("one"), `{"refresh":3}`);
  await reads(inside("two"), `{"refresh":3}`);
  expect(said).toEqual([]);
});

test("what a container may not do to the user's own: no log-in, a link, one that is gone", async () => {
  const secret = join(user, "secret");
  writeFileSync(secret, `{"not":"a log-in"}`);
  renew(outside(), `{"refresh":1}`);
  renew(inside("one"), "no log-in");
  watch.attend(session("one"));
  await expect.poll(() => said.length, { timeout: 20_000 }).toBe(1);
  expect(said[0]).toContain("yours was left as it is");
  rmSync(inside("one"));
  symlinkSync(secret, inside("one"));
  await watch.leave(session("one"));
  expect(readFileSync(outside(), "utf8")).toBe(`{"refresh":1}`);

  rmSync(outside());
  rmSync(inside("one"));
  renew(inside("one"), `{"refresh":9}`);
  await watch.leave(session("one"));
  expect(readdirSync(join(user, ".claude"))).toEqual([]);
});

test("a link of the user's own stays one", async () => {
  const kept = join(user, "dotfiles", "credentials.json");
  renew(kept, `{"refresh":1}`);
  mkdirSync(dirname(outside()), { recursive: true });
  symlinkSync(kept, outside());
  renew(inside("one"), `{"refresh":2}`);
  await watch.leave(session("one"));
  expect(readFileSync(kept, "utf8")).toBe(`{"refresh":2}`);
});
