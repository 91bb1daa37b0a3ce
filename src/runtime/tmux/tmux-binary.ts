/** The tmux program: whether it is there, which version it is, and running it once. */
import { execFile } from "node:child_process";
import { isAtLeast, parseVersion, type TmuxVersion } from "../driver/tmux-version.ts";
import { errnoOf, messageOf, ReeveError } from "../../platform/reeve-error.ts";

const OLDEST: TmuxVersion = { major: 3, minor: 2 };
const INSTALL = "install tmux 3.2 or newer (Debian and Ubuntu: apt install tmux)";

/** The daemon keeps the PATH of whoever started it. */
const ELSEWHERE = "If it is installed but not on that PATH: reeve daemon stop, then try again from your shell.";

export async function requireTmux(binary: string, environment: Readonly<Record<string, string>>): Promise<TmuxVersion> {
  const result = await runOnce([binary, "-V"], environment);
  if (result.errno === "ENOENT" || result.errno === "EACCES") {
    throw new ReeveError({
      code: "tmux-missing",
      kind: "config",
      message: `There is no tmux that can be run (${result.errno} on the daemon's PATH); ${INSTALL}. ${ELSEWHERE}`,
    });
  }
  if (!result.isOk) {
    const reason = result.output.trim().slice(0, 200);
    throw new ReeveError({
      code: "tmux-not-started",
      kind: "unavailable",
      message: `tmux could not be run: ${reason}.`,
    });
  }
  const version = parseVersion(result.output);
  if (version !== null && isAtLeast(version, OLDEST)) return version;
  throw new ReeveError({
    code: "tmux-too-old",
    kind: "config",
    message: `This machine has "${result.output.trim().slice(0, 40)}"; ${INSTALL}. ${ELSEWHERE}`,
  });
}

export interface RunResult {
  readonly isOk: boolean;
  /** Set when the program could not be started at all. */
  readonly errno: string | undefined;
  readonly output: string;
}

/** Ten seconds: a start on a loaded machine takes one; past ten nobody waits any more. */
export function runOnce(argv: readonly string[], environment: Readonly<Record<string, string>>): Promise<RunResult> {
  const [command = "", ...args] = argv;
  return new Promise((resolve) => {
    execFile(command, args, { cwd: "/", env: environment, timeout: 10_000 }, (error, stdout, stderr) => {
      const errno = error === null || typeof error.code === "number" ? undefined : errnoOf(error);
      const output = `${stdout}${stderr}` || (error === null ? "" : messageOf(error));
      resolve({ isOk: error === null, errno, output });
    });
  });
}
