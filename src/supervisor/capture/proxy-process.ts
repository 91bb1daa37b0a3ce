/**
 * Reaches the capture proxy of this home: connects to the one that runs, or
 * starts it. It outlives the daemon on purpose, because agents stream through
 * it. src/capture/proxy/contract.ts says how it is started and spoken to.
 */
import { spawn } from "node:child_process";
import { closeSync, constants } from "node:fs";
import type { ProxyStatus, Observation } from "../../capture/proxy/contract.ts";
import { connectControl, type ProxyControl } from "../../capture/proxy/control-client.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { fieldsOf, parseFields, textIn } from "../../platform/json-fields.ts";
import { openOwnFile } from "../../platform/own-file.ts";
import { errnoOf, messageOf, ReeveError } from "../../platform/reeve-error.ts";

export interface ProxyProgram {
  /** Node and the proxy's file. */
  readonly command: readonly [string, ...string[]];
  readonly controlPath: string;
  /** What Node says when it breaks. */
  readonly stderrPath: string;
}

export interface ReachedProxy {
  readonly control: ProxyControl;
  readonly status: ProxyStatus;
}

/** It binds two addresses; more than this is a machine that does nothing any more. */
const LONGEST_START_MS = 20_000;

/** Null where none runs. */
export async function connectProxy(
  { controlPath }: ProxyProgram,
  observe: (observation: Observation) => void,
): Promise<ReachedProxy | null> {
  let control: ProxyControl;
  try {
    control = await connectControl(controlPath, observe);
  } catch (error) {
    if (NOBODY.has(errnoOf(error) ?? "")) return null;
    throw error;
  }
  return { control, status: await control.status() };
}

const NOBODY = new Set(["ENOENT", "ECONNREFUSED"]);

/** With the port that agents know, or any (null). Rejects where it cannot be started. */
export async function startProxy(
  program: ProxyProgram,
  port: number | null,
  observe: (observation: Observation) => void,
): Promise<ReachedProxy> {
  failpoint("capture-proxy.before-start");
  const line = await firstLine(program, port ?? 0);
  failpoint("capture-proxy.after-start");
  const said = parseFields(line);
  const error = fieldsOf(said?.["error"]);
  const code = textIn(error, "code");
  if (said === null || (code !== null && code !== "already-running"))
    throw unavailable(
      code === "port-taken"
        ? `another program has taken port ${port} of 127.0.0.1, which captured sessions use; end that program`
        : (textIn(error, "message") ?? `it ended without a word; see ${program.stderrPath}`),
    );
  const reached = await connectProxy(program, observe);
  if (reached === null) throw unavailable("it was started, and is gone already");
  return reached;
}

function firstLine({ command, controlPath, stderrPath }: ProxyProgram, port: number): Promise<string> {
  const [program, ...words] = command;
  const stderr = openStderr(stderrPath);
  const child = spawn(program, [...words, "--control", controlPath, "--port", String(port)], {
    cwd: "/",
    detached: true,
    env: {},
    stdio: ["ignore", "pipe", stderr ?? "ignore"],
  });
  if (stderr !== null) closeSync(stderr);
  child.unref();
  return new Promise((resolve, reject) => {
    const { stdout } = child;
    if (stdout === null) return reject(unavailable("its output cannot be read"));
    let text = "";
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      settle();
    }, LONGEST_START_MS);
    const settle = (): void => {
      clearTimeout(timer);
      stdout.destroy();
      resolve(text.split("\n", 1)[0] ?? "");
    };
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(unavailable(messageOf(error)));
    });
    stdout.on("data", (bytes: Buffer) => {
      text += bytes.toString("utf8");
      if (text.includes("\n")) settle();
    });
    stdout.once("close", settle);
  });
}

function openStderr(path: string): number | null {
  try {
    return openOwnFile(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC);
  } catch {
    return null;
  }
}

function unavailable(why: string): ReeveError {
  return new ReeveError({
    code: "capture-proxy-unavailable",
    kind: "unavailable",
    message: `The capture proxy does not run: ${why}.`,
  });
}
