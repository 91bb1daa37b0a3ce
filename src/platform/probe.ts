/**
 * Tries things out: whether an address answers, a name can be looked up, a directory written to, a program run. The daemon
 * does it for itself, and a program does the very same where a session lives (probe-program.ts), so that the two can be
 * compared. Each has a time limit, and nothing that is tried changes anything.
 */
import { spawn } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, readlinkSync, statfsSync } from "node:fs";
import { lookup } from "node:dns";
import { connect } from "node:net";
import { errnoOf, messageOf } from "./reeve-error.ts";

export type ProbeRequest =
  /** `any`: whoever answers is there. `found`: and has this path. */
  | { readonly kind: "http"; readonly url: string; readonly wants: "any" | "found" }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "socket"; readonly path: string }
  | { readonly kind: "name"; readonly host: string }
  | { readonly kind: "write"; readonly path: string }
  | { readonly kind: "program"; readonly argv: readonly string[]; readonly cwd: string };

export interface ProbeOutcome {
  /** `untried`: it says nothing about what was to be tried, such as a program that is not installed. */
  readonly status: "reached" | "failed" | "untried";
  /** An error of the system (ECONNREFUSED), `timeout`, `http <status>` or `exit <status>`; null where it was reached. */
  readonly code: string | null;
  /** What was found, for people: half a sentence. */
  readonly text: string;
}

/** Where it was tried from. */
export interface ProbeGround {
  /** Of the kernel's network; null where there is no such thing. */
  readonly netNamespace: string | null;
  /** Whether a filter of system calls is on. */
  readonly isFiltered: boolean;
}

export interface ProbeReport {
  readonly ground: ProbeGround;
  /** In the order of the requests. */
  readonly outcomes: readonly ProbeOutcome[];
}

export type ProbeEnvironment = Readonly<Record<string, string | undefined>>;

/** All at once, so that those which hang take no longer than one of them. */
export async function probeAll(
  requests: readonly ProbeRequest[],
  options: { readonly limitMs: number; readonly environment: ProbeEnvironment },
): Promise<ProbeReport> {
  const outcomes = await Promise.all(
    requests.map((request) => probe(request, options).catch((error: unknown) => failed(codeOf(error), wordsOf(error)))),
  );
  return { ground: groundHere(), outcomes };
}

function groundHere(): ProbeGround {
  try {
    const seccomp = /^Seccomp:\s*(\d)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    return { netNamespace: readlinkSync("/proc/self/ns/net"), isFiltered: seccomp === "2" };
  } catch {
    return { netNamespace: null, isFiltered: false };
  }
}

interface Limits {
  readonly limitMs: number;
  readonly environment: ProbeEnvironment;
}

async function probe(request: ProbeRequest, limits: Limits): Promise<ProbeOutcome> {
  switch (request.kind) {
    case "http":
      return await askHttp(request, limits);
    case "tcp":
      return await dial({ host: request.host, port: request.port }, limits.limitMs);
    case "socket":
      return await dial({ path: request.path }, limits.limitMs);
    case "name":
      return await lookUp(request.host, limits.limitMs);
    case "write":
      return tryWriting(request.path);
    case "program":
      return await runProgram(request, limits);
  }
}

async function askHttp(
  { url, wants }: Extract<ProbeRequest, { readonly kind: "http" }>,
  { limitMs, environment }: Limits,
): Promise<ProbeOutcome> {
  // The module that asks takes time to load, and most have nothing to ask.
  const { get, Agent } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
  // A proxy of the user's counts as it does for agents, where Node knows how (24.5 and newer).
  const agent = new Agent({ proxyEnv: environment });
  return await new Promise((resolve) => {
    const request = get(url, { agent, headers: { "user-agent": "reeve", accept: "*/*" } }, (response) => {
      const status = response.statusCode ?? 0;
      settle(statusOutcome(status, wants));
    });
    const timer = setTimeout(() => settle(timedOut(limitMs)), limitMs);
    const settle = (outcome: ProbeOutcome): void => {
      clearTimeout(timer);
      resolve(outcome);
      request.destroy();
      agent.destroy();
    };
    request.on("error", (error) => settle(failed(codeOf(error), wordsOf(error))));
  });
}

function statusOutcome(status: number, wants: "any" | "found"): ProbeOutcome {
  const isThere = status < 500 && (wants === "any" || (status !== 404 && status !== 410));
  return isThere ? reached(`it answers (HTTP ${status})`) : failed(`http ${status}`, `it answers with HTTP ${status}`);
}

function dial(where: { host: string; port: number } | { path: string }, limitMs: number): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const socket = connect(where);
    const timer = setTimeout(() => settle(timedOut(limitMs)), limitMs);
    const settle = (outcome: ProbeOutcome): void => {
      clearTimeout(timer);
      resolve(outcome);
      socket.destroy();
    };
    socket.once("connect", () => settle(reached("it takes connections")));
    socket.once("error", (error) => settle(failed(codeOf(error), wordsOf(error))));
  });
}

function lookUp(host: string, limitMs: number): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(timedOut(limitMs)), limitMs);
    lookup(host, (error, address) => {
      clearTimeout(timer);
      resolve(error === null ? reached(`${host} is ${address}`) : failed(codeOf(error), wordsOf(error)));
    });
  });
}

/** O_TMPFILE of Linux: a file without a name, of which nothing is left. */
const NAMELESS = process.platform === "linux" ? 0o20_000_000 | constants.O_DIRECTORY : null;
/** File systems without such files. */
const CANNOT_TELL = new Set(["EOPNOTSUPP", "EISDIR", "EINVAL", "ENOENT"]);
const LOW_BYTES = 64 * 1_048_576;

function tryWriting(path: string): ProbeOutcome {
  try {
    if (NAMELESS !== null) closeSync(openSync(path, NAMELESS | constants.O_WRONLY, 0o600));
  } catch (error) {
    const code = codeOf(error);
    if (!CANNOT_TELL.has(code)) return failed(code, wordsOf(error));
  }
  try {
    const { bavail, bsize } = statfsSync(path);
    const free = bavail * bsize;
    const text = `${Math.round(free / 1_048_576)} MB are free`;
    return free < LOW_BYTES ? failed("ENOSPC", `only ${text}`) : reached(`it can be written to, ${text}`);
  } catch (error) {
    return failed(codeOf(error), wordsOf(error));
  }
}

const MOST_OUTPUT = 2_000;

function runProgram(
  { argv: [command = "", ...args], cwd }: Extract<ProbeRequest, { readonly kind: "program" }>,
  { limitMs, environment }: Limits,
): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    // In a group of its own: what it starts (ssh, a credential program) ends with it.
    const child = spawn(command, args, {
      cwd,
      env: { ...environment, ...NEVER_ASKING },
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      if (said.length < MOST_OUTPUT) said += chunk.toString("utf8");
    });
    const timer = setTimeout(() => {
      end();
      resolve(timedOut(limitMs));
    }, limitMs);
    const end = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended.
      }
    };
    child.once("error", (error) => {
      clearTimeout(timer);
      resolve(
        errnoOf(error) === "ENOENT"
          ? { status: "untried", code: "ENOENT", text: `${command} is not installed there` }
          : failed(codeOf(error), wordsOf(error)),
      );
    });
    child.once("exit", (status, signal) => {
      clearTimeout(timer);
      end();
      child.stderr?.destroy();
      if (status === 0) return resolve(reached(`${command} succeeds`));
      const how = status === null ? `was ended by ${signal}` : `exits with ${status}`;
      // An address that it complains of may hold a password.
      const last = (said.trim().split("\n").at(-1) ?? "").replace(/\/\/[^/@\s]*@/g, "//");
      resolve(failed(`exit ${status ?? signal}`, `${command} ${how}${last === "" ? "" : `: ${last}`}`));
    });
  });
}

/** Nobody sits there to be asked. */
const NEVER_ASKING = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_SSH_COMMAND: "ssh -o BatchMode=yes -o ConnectTimeout=2",
  GIT_OPTIONAL_LOCKS: "0",
  GH_PROMPT_DISABLED: "1",
  NO_COLOR: "1",
};

function reached(text: string): ProbeOutcome {
  return { status: "reached", code: null, text };
}

function failed(code: string, text: string): ProbeOutcome {
  return { status: "failed", code, text };
}

function timedOut(limitMs: number): ProbeOutcome {
  return failed("timeout", `it did not answer within ${limitMs / 1000} s`);
}

/** Node tries several addresses of a name and puts their errors into one. */
function codeOf(error: unknown): string {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return errnoOf(first) ?? errnoOf(error) ?? "error";
}

function wordsOf(error: unknown): string {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return (messageOf(first) || codeOf(error)).replace(/ - Local \(.*\)$/, "");
}
