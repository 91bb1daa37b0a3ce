import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openOutputLog } from "./output-log.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-output-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const open = (options: {
  readonly secrets?: readonly string[] | null;
  readonly mostBytes?: number;
  readonly log?: (message: string) => void;
}) =>
  openOutputLog({
    directory,
    secrets: async () => (options.secrets === undefined ? [] : options.secrets),
    mostBytes: options.mostBytes ?? 1_000_000,
    since: "2026-01-01T00:00:00.000Z",
    log: options.log ?? (() => undefined),
  });
const text = (name = "output.log"): string => readFileSync(join(directory, name), "utf8");

test("plain text, without escape sequences and secrets, private", async () => {
  const log = open({ secrets: ["hunter2-hunter2"] });
  log.push(Buffer.from("\u001b[31mred\u001b[0m the key is hunter2-"));
  log.push(Buffer.from("hunter2\u001b]52;c;aGk=\u0007 done\n"));
  await log.close();
  expect(text()).toBe("[reeve 2026-01-01T00:00:00.000Z: recording from here]\nred the key is [redacted] done\n");
  expect(statSync(join(directory, "output.log")).mode & 0o777).toBe(0o600);
});

test("nothing is written while the secrets are not known", async () => {
  const said: string[] = [];
  const log = open({ secrets: null, log: (message) => said.push(message) });
  log.push(Buffer.from("may be secret\n"));
  await log.close();
  expect(said).toEqual(["output is not recorded: Reeve does not know which secrets it may show"]);
  expect(() => text()).toThrow("ENOENT");
});

test("it is turned over at its size, and one older file is kept", async () => {
  const log = open({ mostBytes: 10 });
  log.push(Buffer.from("first\n"));
  await log.close();
  const next = open({ mostBytes: 1_000 });
  next.push(Buffer.from("second\n"));
  await next.close();
  expect(text("output.log.1")).toContain("first");
  expect(text()).toContain("second");
});

test("a link planted in its place is not followed", async () => {
  symlinkSync(join(directory, "elsewhere"), join(directory, "output.log"));
  const said: string[] = [];
  const log = open({ log: (message) => said.push(message) });
  log.push(Buffer.from("x\n"));
  await log.close();
  expect(said).toEqual([]);
  expect(text()).toContain("x\n");
  expect(() => text("elsewhere")).toThrow("ENOENT");
});

test("a directory in the place of the older file does not keep the log from being turned over", async () => {
  mkdirSync(join(directory, "output.log.1"));
  for (const line of ["first\n", "second\n"]) {
    const log = open({ mostBytes: 10 });
    log.push(Buffer.from(line));
    await log.close();
  }
  expect(text("output.log.1")).toContain("second");
  expect(readdirSync(directory).toSorted()).toEqual(["output.log.1", "output.log.1.set-aside-1"]);
});
