/**
 * Started by the tmux server that sessions run in, so that it is where they are and not where the daemon is: connects to
 * the daemon, runs the one program that it is told to, passes on what that prints, and kills it when the daemon is gone.
 * The environment comes over the socket and is in no file and no argument.
 */
import { spawn } from "node:child_process";
import { connect } from "node:net";
import type { BesideOrder } from "./run-beside.ts";

const socket = connect(process.argv[2] ?? "");
socket.setEncoding("utf8");
socket.on("error", () => process.exit(1));
let text = "";
socket.on("data", (chunk) => {
  text += String(chunk);
  if (!text.endsWith("\n")) return;
  socket.removeAllListeners("data");
  run(JSON.parse(text) as BesideOrder);
});

/** Node gives sockets to its children, which Codex's sandbox does not let them use (0.166.0): the shell gives pipes. */
const PIPED = 'cat | "$@" 2>&1 | cat';

function run({ argv, cwd, environment, input }: BesideOrder): void {
  const child = spawn("/bin/sh", ["-c", PIPED, "sh", ...argv], {
    cwd,
    env: environment,
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
  });
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  const answer = (said: object): void => {
    end();
    socket.end(`${JSON.stringify(said)}\n`, () => process.exit(0));
  };
  socket.once("close", () => {
    end();
    process.exit(0);
  });
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString("utf8")));
  child.stdin.on("error", () => {}); // its exit says why
  child.stdin.end(input);
  child.once("error", (error) => answer({ printed: error.message }));
  child.once("close", () => answer({ printed }));
}
