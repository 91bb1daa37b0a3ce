import { renameSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { createGitRepository, type GitRepository } from "../../../test/support/git-repository.ts";
import { makeTestClock } from "../../../test/support/test-clock.ts";
import { localFiles } from "../../runtime/local-files.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import { plannedSession } from "../../session/session-fixture.ts";
import type { Session } from "../../session/session.ts";
import { checkoutKey, createCheckoutStatus, parseStatus } from "./checkout-status.ts";

let repository: GitRepository;
beforeEach(() => {
  repository = createGitRepository();
});
afterEach(() => repository.dispose());

function sessionIn(root: string): Session {
  const { identity } = plannedSession();
  const launch = { ...identity.launch, paths: { PATH: process.env["PATH"] ?? "" } };
  return plannedSession({ identity: { ...identity, launch }, checkout: { root } });
}

/** How many gits run at the same time, at most, and how many in all. */
function watched(): { readonly files: SessionFiles; readonly most: () => number; readonly all: () => number } {
  let [now, most, all] = [0, 0, 0];
  const run: SessionFiles["run"] = async (...args) => {
    [now, all] = [now + 1, all + 1];
    most = Math.max(most, now);
    return await localFiles.run(...args).finally(() => (now -= 1));
  };
  return { files: { ...localFiles, run }, most: () => most, all: () => all };
}

test("counts what git says: ahead, behind, changed, renamed, untracked and in conflict", () => {
  const status = (): ReturnType<typeof parseStatus> =>
    parseStatus(repository.git("status", "--porcelain=v2", "--branch", "-z"));
  const commit = repository.git("rev-parse", "HEAD").trim();
  expect(status()).toEqual({ commit, ahead: null, behind: null, dirty: 0 });
  repository.git("branch", "--quiet", "--set-upstream-to", "feature");
  repository.commit("another", "1\n");
  renameSync(join(repository.root, "another"), join(repository.root, "? 1 u"));
  repository.git("add", "--all");
  repository.write("same", "changed\n");
  repository.write("new\nline", "untracked\n");
  expect(status()).toMatchObject({ ahead: 1, behind: 1, dirty: 3 });
  repository.git("reset", "--quiet", "--hard");
  repository.commit("same", "of main\n");
  repository.tryGit("merge", "feature");
  expect(status()).toMatchObject({ dirty: 2 });
});

test("says at once what is known, and asks again only when that is old or something changed", async () => {
  const clock = makeTestClock();
  const git = watched();
  const status = createCheckoutStatus({ runtime: () => git, clock, log: () => undefined });
  const session = sessionIn(repository.root);
  expect([status.of(session), status.of(session)]).toEqual([null, null]);
  const first = await eventually("an answer", () => status.of(session));
  expect(first).toMatchObject({ dirty: 0 });
  repository.write("new", "1\n");
  expect({ same: status.of(session) === first, asked: git.all() }).toEqual({ same: true, asked: 1 });
  status.notice(checkoutKey("tmux", repository.root));
  await clock.advance(1_000);
  expect(status.of(session)).toBe(first);
  await eventually("the new file", () => status.of(session)?.dirty === 1);
  await clock.advance(5_000);
  status.of(session);
  await eventually("it is asked once more", () => git.all() === 3);
  status.close();
});

test("asks few at a time, and once for sessions of one checkout", async () => {
  const git = watched();
  const roots = [0, 1, 2, 3, 4].map((number) => repository.beside(`tree-${number}`));
  for (const root of roots) repository.git("worktree", "add", "--quiet", "--detach", root);
  const status = createCheckoutStatus({ runtime: () => git, clock: makeTestClock(), log: () => undefined });
  const sessions = [...roots, ...roots].map(sessionIn);
  for (const session of sessions) status.of(session);
  await eventually("all are known", () => sessions.every((session) => status.of(session) !== null));
  expect({ most: git.most(), all: git.all() }).toEqual({ most: 2, all: 5 });
});

test("says nothing of what is no checkout any more, or of a session that has ended", async () => {
  const logged: string[] = [];
  const status = createCheckoutStatus({
    runtime: () => ({ files: localFiles }),
    clock: makeTestClock(),
    log: (text) => void logged.push(text),
  });
  const gone = sessionIn(repository.beside("gone"));
  expect(status.of(gone)).toBeNull();
  await eventually("git fails", () => logged.length > 0);
  expect(status.of(gone)).toBeNull();
  const { process } = gone;
  const ended = { ...sessionIn(repository.root), process: { ...process, exit: { code: 0, signal: null, at: 1 } } };
  expect(status.of(ended)).toBeNull();
});

test("asked for what is so now, it answers with what was committed before", async () => {
  const git = watched();
  const status = createCheckoutStatus({ runtime: () => git, clock: makeTestClock(), log: () => undefined });
  const session = sessionIn(repository.root);
  for (const name of ["one", "two", "three"]) {
    repository.commit(name, "1\n");
    const commit = repository.git("rev-parse", "HEAD").trim();
    const answers = await Promise.all([status.now(session), status.now(session)]);
    expect(answers.map((answer) => answer?.commit)).toEqual([commit, commit]);
  }
  expect(await status.now(sessionIn("/nowhere"))).toBeNull();
  // What nobody will answer any more is not waited for.
  const late = [1, 2, 3, 4, 5].map(() => status.now(session));
  status.close();
  await Promise.all(late);
  expect(await status.now(session)).toBeNull();
});
