/** The ground under one test of a runtime: made before it, ended and looked over after it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { listProcesses, readEnvironmentVariable } from "../../src/platform/process-table.ts";
import { type CreateRequest, MARK_VARIABLE, type Runtime, type Target } from "../../src/runtime/contract.ts";
import { eventually } from "../support/eventually.ts";

export interface RuntimeFixture {
  readonly runtime: Runtime;
  readonly instance: string;
  /** A directory that sessions can read and write under the same path. */
  readonly workDir: string;
  /** A second runtime object over the same ground, as a new daemon would make it. */
  reopen(): Runtime;
  /** Ends everything; the suite then looks for leftovers. */
  dispose(): Promise<void>;
}

export interface Ground<F extends RuntimeFixture = RuntimeFixture> {
  readonly fixture: F;
  readonly runtime: Runtime;
  request(target: Target, argv: readonly string[], more?: Partial<CreateRequest>): CreateRequest;
  shell(target: Target, script: string, more?: Partial<CreateRequest>): CreateRequest;
  path(file: string): string;
  /** The content of a file in the session's directory, once it is there. */
  written(file: string): Promise<string>;
  /** How it ended, once it has. */
  exit(target: Target): Promise<object>;
}

export const BASE = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LANG: "C.UTF-8" };
export const first: Target = { sessionId: "one", incarnation: 1 };
export const second: Target = { sessionId: "one", incarnation: 2 };

/** To be called inside a `describe`. */
export function useGround<F extends RuntimeFixture>(makeFixture: () => Promise<F>): Ground<F> {
  let fixture: F;
  beforeEach(async () => {
    fixture = await makeFixture();
  });
  afterEach(async () => {
    await fixture.dispose();
    expect(markedProcesses(fixture.instance)).toEqual([]);
  });

  const request: Ground["request"] = (target, argv, more = {}) => ({
    ...target,
    argv,
    cwd: fixture.workDir,
    environment: BASE,
    extraEnvironment: {},
    label: "label",
    ...more,
  });
  const path = (file: string): string => join(fixture.workDir, file);
  return {
    get fixture() {
      return fixture;
    },
    get runtime() {
      return fixture.runtime;
    },
    request,
    shell: (target, script, more) => request(target, ["sh", "-c", script], more),
    path,
    written: (file) =>
      eventually(`${file} is written`, () => existsSync(path(file)) && readFileSync(path(file), "utf8")),
    exit: (target) =>
      eventually("it exited", async () => {
        const observation = await fixture.runtime.observe(target);
        return observation.status === "exited" && { code: observation.code, signal: observation.signal };
      }),
  };
}

/** Living processes that carry any mark of this instance. */
export function markedProcesses(instance: string): readonly number[] {
  return listProcesses()
    .filter(
      (row) =>
        row.state !== "Z" && readEnvironmentVariable(row.pid, MARK_VARIABLE)?.startsWith(`${instance}.`) === true,
    )
    .map((row) => row.pid);
}
