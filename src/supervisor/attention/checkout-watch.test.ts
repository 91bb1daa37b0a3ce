import { renameSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { makeTestClock } from "../../../test/support/test-clock.ts";
import { createGitRepository, type GitRepository } from "../../../test/support/git-repository.ts";
import { localFiles } from "../../runtime/local-files.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import { putSession } from "../../store/change.ts";
import { makeHome, makeSession } from "../../store/store-fixture.ts";
import { createCheckoutWatch } from "./checkout-watch.ts";
import { agentWith, type Ground, makeGround } from "./watch-fixture.ts";
import type { Watcher } from "./watcher.ts";

let repository: GitRepository;
let ground: Ground;
/** Checkouts of which something was told that makes their status old. */
let noticed: string[];
beforeEach(async () => {
  repository = createGitRepository();
  noticed = [];
  const home = makeHome();
  const identity = { ...makeSession(home, "s").identity, branch: "main", agent: "inline" };
  const head = { branch: "main", commit: null, underWay: null, at: 1 };
  ground = await makeGround(agentWith({}), { identity, checkout: { root: repository.root, head } }, home);
});
afterEach(async () => {
  await ground.dispose();
  repository.dispose();
});

function watch({
  files = localFiles,
  intervalMs = 60_000,
}: { files?: SessionFiles; intervalMs?: number } = {}): Watcher {
  const status = { notice: (key: string) => void noticed.push(key) };
  const parts = { ...ground.parts, runtime: () => ({ files }), status, intervalMs };
  return ground.use(createCheckoutWatch(parts));
}

const mismatches = () => ground.events("branch-mismatched");
const until = (actual: string | null) =>
  eventually(`HEAD on ${actual}`, () => ground.session().checkout.head?.branch === actual);

/** How many watches were made, and how often the log of HEAD was looked at. */
function counting(): { readonly files: SessionFiles; readonly watches: () => number; readonly looks: () => number } {
  let [watches, looks] = [0, 0];
  return {
    files: {
      ...localFiles,
      watch: (path, tell) => ((watches += 1), localFiles.watch(path, tell)),
      async stat(path) {
        const found = await localFiles.stat(path);
        if (path.endsWith("/logs/HEAD")) looks += 1;
        return found;
      },
    },
    watches: () => watches,
    looks: () => looks,
  };
}

test("what was checked out before it watched is noticed, and what is later", async () => {
  repository.git("switch", "--quiet", "feature");
  watch();
  await until("feature");
  repository.git("switch", "--quiet", "main");
  await until("main");
  repository.commit("another", "1\n");
  await eventually("a commit makes the status old", () => noticed.some((key) => key.endsWith(repository.root)));
  expect(mismatches().map(({ actual }) => actual)).toEqual(["feature"]);
  expect(ground.events("branch-restored")).toHaveLength(1);
});

test("a rebase that was over before anybody could look is told by the log of HEAD", async () => {
  repository.commit("another", "1\n");
  const counted = counting();
  watch(counted);
  await eventually("it has looked", () => counted.looks() === 1);
  repository.git("rebase", "--quiet", "feature");
  const [mismatch] = await eventually("a mismatch", () => mismatches().length > 0 && mismatches());
  expect(mismatch?.reason.text).toContain("a rebase of main is under way");
  await eventually("its end", () => ground.session().checkout.mismatchAt === null);
  expect(ground.events("branch-restored")).toHaveLength(1);
});

test("the sessions of one checkout share a watch", async () => {
  const counted = counting();
  const watcher = watch(counted);
  const other = { ...makeSession(ground.home, "t"), ...ground.session(), id: "t" };
  const named = { ...other, identity: { ...other.identity, name: "t", branch: null } };
  await ground.store.commit({ changes: [putSession({ ...named, revision: 1 })] });
  watcher.attend(ground.store.registry.get("t") ?? named);
  repository.git("switch", "--quiet", "feature");
  await until("feature");
  await eventually("the other hears of it", () => ground.events("branch-changed").length === 1);
  expect(counted.watches()).toBe(1);
});

test("where no watch is left, HEAD is read at every interval", async () => {
  const exhausted: SessionFiles = {
    ...localFiles,
    watch: () => Promise.reject(Object.assign(new Error("no space left on device, watch"), { code: "ENOSPC" })),
  };
  watch({ files: exhausted, intervalMs: 50 });
  repository.git("switch", "--quiet", "--create", "third");
  await until("third");
  expect(mismatches()).toHaveLength(1);
});

test("a checkout that goes away is told, and one in its place is watched", async () => {
  const counted = counting();
  watch({ ...counted, intervalMs: 50 });
  await eventually("it watches", () => counted.watches() === 1);
  renameSync(join(repository.root, ".git"), repository.beside("moved"));
  await until(null);
  expect(mismatches().at(-1)?.reason.text).toContain("Its checkout is gone");
  renameSync(repository.beside("moved"), join(repository.root, ".git"));
  await until("main");
  await eventually("it is watched again", () => counted.watches() > 1);
  repository.git("switch", "--quiet", "feature");
  await until("feature");
});

test("a branch that changes many times in a second does not flood the log", async () => {
  watch();
  await until("main");
  const since = performance.now();
  for (let count = 0; count < 30; count++) repository.git("switch", "--quiet", count % 2 === 0 ? "feature" : "main");
  repository.git("switch", "--quiet", "--create", "last");
  await until("last");
  const looks = 2 + Math.ceil((performance.now() - since) / 500);
  expect(mismatches().length).toBeLessThanOrEqual(looks);
});

test("another branch is looked at within a second of the change, whatever flaps", async () => {
  await ground.dispose();
  const clock = makeTestClock();
  const home = makeHome();
  const identity = { ...makeSession(home, "s").identity, branch: "main", agent: "inline" };
  const head = { branch: "main", commit: null, underWay: null, at: 1 };
  ground = await makeGround(agentWith({}), { identity, checkout: { root: repository.root, head } }, home, clock);
  const counted = counting();
  watch({ ...counted, intervalMs: 3_600_000 });
  await eventually("it has looked", () => counted.looks() === 1);
  for (const branch of ["feature", "main", "feature"]) {
    const looked = counted.looks();
    repository.git("switch", "--quiet", branch);
    const due = await eventually("a look is due", () => clock.waiting()[0]);
    // The rest of the second is for the machine.
    expect(due).toBeLessThanOrEqual(500);
    expect(counted.looks()).toBe(looked);
    await clock.advance(due);
    await until(branch);
  }
  expect(mismatches()).toHaveLength(2);
});
