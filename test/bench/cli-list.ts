/** Target 13: `reeve list --json` as a person runs it, against starting Node at all. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { runProgram } from "../support/test-home.ts";
import { createBenchHome } from "./support/bench-home.ts";
import { timeProgram } from "./support/child.ts";
import { alternate, atMost, compare } from "./support/measure.ts";
import { untilQuiet } from "./support/processes.ts";
import { restingSession, seedSessions } from "./support/seed.ts";
import type { Target } from "./support/target.ts";

const SESSIONS = 100;

export const cliList: Target = {
  number: 13,
  title: "reeve list, end to end",
  async measure({ scope, build, rounds, add }) {
    if (!existsSync(build.cli)) throw new Error("there is no bin/reeve yet");
    const home = createBenchHome(scope, build);
    await seedSessions(
      home.dir,
      Array.from({ length: SESSIONS }, (_, index) => restingSession(home.dir, index + 1)),
    );
    const daemon = await home.startDaemon();
    await untilQuiet(daemon.pid, 5_000);
    const environment = { ...home.environment, PATH: `${dirname(process.execPath)}:${home.environment["PATH"] ?? ""}` };
    const { stdout } = await runProgram(build.cli, ["list", "--json"], environment);
    const { sessions } = JSON.parse(stdout) as { readonly sessions: readonly unknown[] };
    if (sessions.length !== SESSIONS) throw new Error(`reeve list shows ${sessions.length} sessions, not ${SESSIONS}`);

    const samples = await alternate({ count: rounds(40, 12), warmUp: 3, pauseMs: 0 }, [
      async () => ({ node: await timeProgram(process.execPath, ["-e", "0"], environment) }),
      async () => ({ list: await timeProgram(build.cli, ["list", "--json"], environment) }),
      async () => ({ table: await timeProgram(build.cli, ["list"], environment) }),
    ]);
    const common = { target: 13, baseline: samples("node"), baselineName: "node -e 0" };
    add(
      compare({ ...common, what: "reeve list --json", subject: samples("list"), limit: atMost(1.25) }),
      compare({ ...common, what: "reeve list", subject: samples("table"), limit: atMost(1.25) }),
    );
  },
};
