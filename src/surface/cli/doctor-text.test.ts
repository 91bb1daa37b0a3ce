import { describe, expect, it } from "vitest";
import type { OutputOf } from "../../client/operation-types.ts";
import { diagnosisText } from "./doctor-text.ts";

type Check = OutputOf<"diagnose">["checks"][number];

const tmux: Check = {
  what: "tmux",
  status: "ok",
  detail: "tmux 3.5 answers",
  advice: null,
  login: null,
  verdict: null,
  mechanism: null,
  routes: [],
};
const codex: Check = {
  what: "codex",
  status: "missing",
  detail: "There is no program codex.",
  advice: "Get it with: npm install -g codex",
  login: null,
  verdict: null,
  mechanism: null,
  routes: [],
};

describe("diagnosisText", () => {
  it("takes an agent that is not installed for no problem", async () => {
    expect(await diagnosisText({ healthy: true, checks: [tmux, codex] }, { width: null, hasColour: false }))
      .toBe(`ok       tmux   tmux 3.5 answers
missing  codex  There is no program codex.
                Get it with: npm install -g codex

All is well. Not installed: codex.
`);
  });

  it("does not call it well when an agent is not logged in", async () => {
    const claude: Check = {
      what: "claude",
      status: "warning",
      detail: "2.1.325 at /bin/claude; not logged in",
      advice: "Log in with: claude",
      login: "logged-out",
      verdict: null,
      mechanism: null,
      routes: [],
    };
    const text = await diagnosisText({ healthy: true, checks: [tmux, claude] }, { width: null, hasColour: false });
    expect(text).toMatch(/^warning {2}claude .*not logged in\n +Log in with: claude$/m);
    expect(text).toMatch(/\n\nReeve works here\. Not logged in: claude\.\n$/);
  });

  it("counts problems, breaks long sentences and strips escape sequences", async () => {
    const checks: Check[] = [
      tmux,
      {
        what: "daemon",
        status: "problem",
        detail: "\u001B[5mSessions end when you log out of here.",
        advice: null,
        login: null,
        verdict: null,
        mechanism: null,
        routes: [],
      },
    ];
    expect(await diagnosisText({ healthy: false, checks }, { width: 40, hasColour: false })).toBe(
      `ok       tmux    tmux 3.5 answers
problem  daemon  Sessions end when you
                 log out of here.

There is 1 problem.
`,
    );
    const painted = await diagnosisText({ healthy: false, checks }, { width: 40, hasColour: true });
    expect(painted).toContain("\u001B[31mproblem\u001B[0m  daemon");
  });
});
