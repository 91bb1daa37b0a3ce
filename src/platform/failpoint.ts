/**
 * Named points at which a test may kill this process, to prove that a crash
 * there is survivable. Inert unless REEVE_FAILPOINT_FILE names a file that
 * holds one of the names; the file is removed before the kill, so that the
 * process started next passes the same point alive, and `<file>.fired` tells
 * which process it was. `throw <name>` ends it by an error that nobody catches,
 * `reject <name>` by a promise that nobody does.
 */
import { appendFileSync, readFileSync, unlinkSync } from "node:fs";

const file = process.env["REEVE_FAILPOINT_FILE"];

export function failpoint(name: string): void {
  if (file === undefined) return;
  let armed: string;
  try {
    armed = readFileSync(file, "utf8").trim();
  } catch {
    return;
  }
  const [, how, point] = /^(?:(throw|reject) )?(.*)$/.exec(armed) ?? [];
  if (point !== name) return;
  appendFileSync(`${file}.fired`, `${process.pid} ${armed}\n`);
  unlinkSync(file);
  if (how === undefined) process.kill(process.pid, "SIGKILL");
  else if (how === "reject") void Promise.reject(new Error(`failpoint ${name}`));
  else
    setImmediate(() => {
      throw new Error(`failpoint ${name}`);
    });
}
