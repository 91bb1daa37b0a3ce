/** An orchestrator that does what next_work says and nothing else, through the CLI. */
import type { OutputOf } from "../../src/client/operation-types.ts";
import type { TestHome } from "./test-home.ts";

export type Advice = OutputOf<"nextWork">;

export interface WorkDriver {
  /** What next_work says now. */
  next(): Promise<Advice>;
  /** Does it. */
  carryOut(advice: Advice): Promise<void>;
  /** Until this action is proposed, or the item is done; the actions in between, each once in a row. */
  driveTo(action: Advice["action"]): Promise<Advice>;
  readonly actions: readonly string[];
}

/** More than any item of a test needs: each wait is one step. */
const MOST_STEPS = 60;

export function createWorkDriver(
  home: TestHome,
  work: string,
  /** Starts the worker that is asked for, and reviews. */
  hooks: {
    start(advice: Advice): Promise<void>;
    review(advice: Advice): Promise<readonly string[]>;
  },
): WorkDriver {
  const actions: string[] = [];

  function note({ action, code }: Advice): void {
    const name = code === null ? action : `${action} ${code}`;
    if (actions.at(-1) !== name) actions.push(name);
  }

  const driver: WorkDriver = {
    actions,
    next: () => home.json<Advice>("work", "next", work),
    async carryOut(advice) {
      note(advice);
      const { action, session_id: session, message, commit } = advice;
      switch (action) {
        case "dispatch":
          return await hooks.start(advice);
        case "wait":
          return void (await home.json("wait", ...(advice.wait?.sessions ?? []), "--timeout", "60"));
        case "read":
          await home.json("data", session ?? "");
          return void (await home.json("work", "built", work, "It is there."));
        case "send-details":
          return void (await home.json("send", session ?? "", message ?? ""));
        case "fix":
          return void (await home.json("send", session ?? "", message ?? "", "--work", work));
        case "review":
          return void (await home.json("work", ...(await hooks.review(advice))));
        case "finalise":
          return void (await home.json("work", "finalise", work, ...(commit === null ? [] : ["--commit", commit])));
        case "end-session":
          return void (await home.json("end", session ?? ""));
        case "done":
          return void (await home.json("work", "done", work));
        default:
          throw new Error(`next_work says ${JSON.stringify(advice)}`);
      }
    },
    async driveTo(action) {
      for (let step = 0; step < MOST_STEPS; step++) {
        const advice = await driver.next();
        if (advice.action === action) return advice;
        await driver.carryOut(advice);
      }
      throw new Error(`next_work did not come to ${action}: ${actions.join(", ")}`);
    },
  };
  return driver;
}
