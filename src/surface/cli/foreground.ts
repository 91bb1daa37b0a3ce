/**
 * Runs another program in the foreground: it gets the terminal and the signals,
 * and its exit status becomes ours. Loaded only when needed.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { ReeveError } from "../../platform/reeve-error.ts";

/** The terminal sends these to the program too; it decides. */
const LEFT_TO_IT = ["SIGINT", "SIGQUIT", "SIGTSTP"] as const;
const PASSED_ON = ["SIGTERM", "SIGHUP"] as const;

export function runInForeground(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const [program = "", ...args] = argv;
  for (const signal of LEFT_TO_IT) {
    process.removeAllListeners(signal);
    process.on(signal, () => undefined);
  }
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", env: { ...environment } });
    for (const signal of PASSED_ON) process.on(signal, () => child.kill(signal));
    child.on("error", (error) =>
      reject(
        new ReeveError({
          code: "not-runnable",
          kind: "unavailable",
          message: `${program} cannot be run (${error.message}); is it installed?`,
        }),
      ),
    );
    child.on("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
