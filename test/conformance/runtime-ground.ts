/** The ground under one test of a runtime: made before it, ended and looked over after it. */
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import type { CreateRequest, Runtime, Target } from "../../src/runtime/contract.ts";
import type { NamedProcess } from "../../src/session/session.ts";
import { eventually } from "../support/eventually.ts";

export interface RuntimeFixture {
  readonly runtime: Runtime;
  readonly instance: string;
  /** A directory of the sessions, as the runtime's own files have it. */
  readonly workDir: string;
  /** Its processes, counted by the ground itself: how many live, and how many of these stand still. */
  census(): { readonly living: number; readonly still: number };
  /** A process as a file inside a session would name it: by the pid that it has there. */
  named(pid: number): NamedProcess;
  /** A second runtime object over the same ground, as a new daemon would make it. */
  reopen(): Runtime;
  /** What every request here needs beside the rest: a container. */
  readonly defaults?: Partial<CreateRequest>;
  /** Of the large crowds in the suite, the part that this machine can hold; all of it where nothing is said. */
  readonly share?: number;
  /** Ends everything; the suite then looks for leftovers. */
  dispose(): Promise<void>;
}

export interface Ground<F extends RuntimeFixture = RuntimeFixture> {
  readonly fixture: F;
  readonly runtime: Runtime;
  request(target: Target, argv: readonly string[], more?: Partial<CreateRequest>): CreateRequest;
  shell(target: Target, script: string, more?: Partial<CreateRequest>): CreateRequest;
  path(file: string): string;
  /** Whether there is such a file in the session's directory. */
  exists(file: string): Promise<boolean>;
  put(file: string, content: string): Promise<void>;
  /** The content of a file in the session's directory, once it is there. */
  written(file: string): Promise<string>;
  /** So many sessions, or the part of them that this runtime can have at once. */
  crowd(count: number): number;
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
    expect(fixture.census().living).toBe(0);
  });

  const request: Ground["request"] = (target, argv, more = {}) => ({
    ...target,
    argv,
    cwd: fixture.workDir,
    environment: BASE,
    extraEnvironment: {},
    label: "label",
    ...fixture.defaults,
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
    exists: async (file) => (await fixture.runtime.files.stat(path(file))) !== null,
    put: (file, content) => fixture.runtime.files.write({ path: path(file), content, isExecutable: false }),
    written: (file) =>
      eventually(`${file} is written`, () => fixture.runtime.files.read(path(file), { mostBytes: 16_777_216 })),
    crowd: (count) => Math.ceil(count * (fixture.share ?? 1)),
    exit: (target) =>
      eventually("it exited", async () => {
        const presence = await fixture.runtime.observe(target);
        return presence.status === "exited" && { code: presence.code, signal: presence.signal };
      }),
  };
}
