/**
 * Target 20: `recover` over HTTP of a session in a dirty git checkout, beside what it
 * has to do as well: `git status` and `git stash list` there, and a Node that tries the
 * layers where the session lives. It may take 2 s.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createBenchHome } from "./support/bench-home.ts";
import { timeProgram } from "./support/child.ts";
import { createHttpClient, followEvents } from "./support/http-client.ts";
import { alternate, atMost, compare, timed } from "./support/measure.ts";
import type { Target } from "./support/target.ts";

const FILES = 500;

export const recover: Target = {
  number: 20,
  title: "recover",
  async measure({ scope, build, rounds, add }) {
    const home = createBenchHome(scope, build);
    await home.startDaemon();
    const cwd = join(home.dir, "repository");
    mkdirSync(cwd);
    execFileSync("git", ["init", "--quiet", cwd], { env: home.environment });
    for (let file = 0; file < FILES; file++) writeFileSync(join(cwd, `file-${file}`), "dirty\n");
    const client = createHttpClient(scope, home.socketPath);
    const events = await followEvents(scope, home.socketPath, 0);
    const { session_id: id } = await client.postJson<{ session_id: string }>("/v1/sessions", {
      agent: "command",
      args: ["sleep", "3600"],
      cwd,
      environment: home.environment,
    });
    await events.arrival("session-running", id);
    const samples = await alternate({ count: rounds(40, 10), warmUp: 3, pauseMs: 0 }, [
      async () => ({
        git:
          (await timeProgram("git", ["-C", cwd, "status", "--porcelain=v2", "--branch", "-z"], home.environment)) +
          (await timeProgram("git", ["-C", cwd, "stash", "list"], home.environment)) +
          (await timeProgram(process.execPath, ["-e", "0"], home.environment)),
      }),
      async () => ({ recover: await timed(() => client.get(`/v1/recover?session=${id}`)) }),
    ]);
    add(
      compare({
        target: 20,
        what: `a checkout with ${FILES} untracked files`,
        subject: samples("recover"),
        baseline: samples("git"),
        baselineName: "git status, git stash list, node -e 0",
        limit: atMost(2_000, "subject"),
      }),
    );
  },
};
