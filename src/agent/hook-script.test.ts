import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hookScript } from "./hook-script.ts";

let directory: string;
let script: string;
beforeEach(() => {
  // A blank, because people have them in their paths.
  directory = join(mkdtempSync(join(tmpdir(), "reeve-hook-")), "a session");
  mkdirSync(join(directory, "spool"), { recursive: true });
  const planned = hookScript(directory);
  script = planned.path;
  writeFileSync(script, planned.content);
  chmodSync(script, planned.isExecutable ? 0o700 : 0o600);
});
afterEach(() => rmSync(join(directory, ".."), { recursive: true, force: true }));

interface Result {
  readonly status: number | null;
  readonly output: string;
}

function hook(input: string, args: readonly string[] = []): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn(script, args, { cwd: "/", env: { PATH: "/usr/bin:/bin" } });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, output }));
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}

const fine: Result = { status: 0, output: "" };
const spooled = (): string[] => readdirSync(join(directory, "spool"));
const contents = (): string[] => spooled().map((name) => readFileSync(join(directory, "spool", name), "utf8"));

describe("the hook", () => {
  test("spools what it is given on standard input, private to the user", async () => {
    const record = '{"hook_event_name":"Stop","text":"é🙂 $HOME `x` \\\\n %s"}\n';
    expect(await hook(record)).toEqual(fine);
    expect(contents()).toEqual([record]);
    const [name = ""] = spooled();
    expect(name).toMatch(/^\d{19}-\d+\.json$/);
    expect(statSync(join(directory, "spool", name)).mode & 0o777).toBe(0o600);
  });

  test("spools its last argument where the agent gives it there", async () => {
    const record = '{"type":"agent-turn-complete","text":"-n %s \\\\t"}';
    expect(await hook("", ["--argument", record])).toEqual(fine);
    expect(await hook("", ["--argument", "ignored", "--", record])).toEqual(fine);
    expect(contents()).toEqual([`${record}\n`, `${record}\n`]);
  });

  test.each([[200_000, "stdin"] as const, [100_000, "argument"] as const])(
    "takes a record of %i bytes by %s whole",
    async (size, how) => {
      const record = JSON.stringify({ text: "x".repeat(size) });
      expect(await (how === "stdin" ? hook(record) : hook("", ["--argument", record]))).toEqual(fine);
      expect(contents().map((text) => text.trimEnd() === record)).toEqual([true]);
    },
  );

  test("an empty record is a record too", async () => {
    expect(await hook("")).toEqual(fine);
    expect(contents()).toEqual([""]);
  });

  test("twenty at a time leave twenty whole records and nothing half written", async () => {
    const records = Array.from({ length: 20 }, (_, index) => JSON.stringify({ index, text: "y".repeat(50_000) }));
    expect(await Promise.all(records.map((record) => hook(record)))).toEqual(records.map(() => fine));
    expect(new Set(contents())).toEqual(new Set(records));
    expect(spooled().filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("records of one agent are read in the order they were written", async () => {
    for (let index = 0; index < 5; index++) await hook(String(index));
    expect(
      spooled()
        .toSorted()
        .map((name) => readFileSync(join(directory, "spool", name), "utf8")),
    ).toEqual(["0", "1", "2", "3", "4"]);
  });

  test("never makes an agent fail: the spool is gone", async () => {
    rmSync(join(directory, "spool"), { recursive: true });
    expect(await hook("{}")).toEqual(fine);
    expect(await hook("", ["--argument", "{}"])).toEqual(fine);
  });

  test("never makes an agent fail: the spool is a file", async () => {
    rmSync(join(directory, "spool"), { recursive: true });
    writeFileSync(join(directory, "spool"), "");
    expect(await hook("{}")).toEqual(fine);
  });

  test.skipIf(process.getuid?.() === 0)("never makes an agent fail: the spool cannot be written", async () => {
    chmodSync(join(directory, "spool"), 0o500);
    expect(await hook("{}")).toEqual(fine);
    chmodSync(join(directory, "spool"), 0o700);
    expect(spooled()).toEqual([]);
  });

  test("says what it is", () => {
    expect(hookScript("/h/s-1")).toMatchObject({ path: "/h/s-1/hook.sh", isExecutable: true });
  });
});
