import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { localFiles } from "../../runtime/local-files.ts";
import { removeSocketFiles } from "./socket-files.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "reeve-sockets-"));
  for (const name of ["run", "made"]) mkdirSync(join(dir, name));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const agent = {
  socketFiles: (socket: string): readonly string[] => [join(dir, "made", Buffer.from(socket).toString("hex")), socket],
};
const made = (socket: string): string => agent.socketFiles(socket)[0] ?? "";

test("what the session's own socket left is removed, and nothing else", async () => {
  const [mine, other] = [join(dir, "run", "mine.sock"), join(dir, "run", "other.sock")];
  for (const socket of [mine, other]) {
    writeFileSync(made(socket), "");
    symlinkSync(made(socket), socket);
  }
  await removeSocketFiles(localFiles, agent, mine);
  expect(readdirSync(join(dir, "run"))).toEqual(["other.sock"]);
  expect(readdirSync(join(dir, "made"))).toEqual([made(other).split("/").at(-1)]);
  await removeSocketFiles(localFiles, agent, mine);
  await removeSocketFiles(localFiles, {}, other);
  await removeSocketFiles(localFiles, agent, null);
  expect(readdirSync(join(dir, "run"))).toEqual(["other.sock"]);
});

test("it is named after the real path, also where a link leads to it", async () => {
  writeFileSync(made(join(dir, "run", "mine.sock")), "");
  symlinkSync(join(dir, "run"), join(dir, "short"));
  await removeSocketFiles(localFiles, agent, join(dir, "short", "mine.sock"));
  expect(readdirSync(join(dir, "made"))).toEqual([]);
});

test("a directory in its place is left, and so is what is reached through somebody's link", async () => {
  const socket = join(dir, "run", "mine.sock");
  mkdirSync(made(socket));
  await removeSocketFiles(localFiles, agent, socket);
  expect(readdirSync(join(dir, "made"))).toHaveLength(1);
  mkdirSync(join(dir, "elsewhere"));
  writeFileSync(join(dir, "elsewhere", "a"), "");
  symlinkSync(join(dir, "elsewhere"), join(dir, "linked"));
  await removeSocketFiles(localFiles, { socketFiles: () => [join(dir, "linked", "a")] }, socket);
  expect(readdirSync(join(dir, "elsewhere"))).toEqual(["a"]);
});
