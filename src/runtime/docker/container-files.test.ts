import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { localFiles } from "../local-files.ts";
import type { SessionFiles } from "../session-files.ts";
import { createContainerFiles } from "./container-files.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-files-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("a link that a container planted leads nowhere on this machine", async () => {
  const outside = join(directory, "outside");
  const own = join(directory, "outputs", "agent", "s-1");
  mkdirSync(join(outside, "spool"), { recursive: true });
  mkdirSync(own, { recursive: true });
  writeFileSync(join(outside, "secret.jsonl"), "the secret\n");
  writeFileSync(join(outside, "spool", "record.json"), "{}");
  writeFileSync(join(own, "plain.jsonl"), "a line\n");
  symlinkSync(join(outside, "secret.jsonl"), join(own, "planted.jsonl"));
  symlinkSync("plain.jsonl", join(own, "harmless.jsonl"));
  symlinkSync(join(outside, "spool"), join(own, "spool"));
  const mostBytes = 1_000;
  const seenBy = async (files: SessionFiles) => ({
    whole: await files.read(join(own, "planted.jsonl"), { mostBytes }),
    lines: (await files.readNewLines(join(own, "planted.jsonl"), null)).lines.length,
    tail: await files.readTail(join(own, "planted.jsonl"), { bytes: 100, since: null }).then(
      ({ lines }) => lines.length,
      () => 0,
    ),
    state: (await files.stat(join(own, "planted.jsonl"))) !== null,
    listed: (await files.list(join(own, "spool"))).length,
    behind: await files.read(join(own, "spool", "record.json"), { mostBytes }),
    inside: await files.read(join(own, "harmless.jsonl"), { mostBytes }),
    missing: await files.read(join(own, "none.jsonl"), { mostBytes }),
  });
  const nothing = { whole: null, lines: 0, tail: 0, state: false, listed: 0, behind: null, missing: null };
  const files = createContainerFiles({ outputsDir: join(directory, "outputs"), gitDir: join(directory, "git") });
  expect(await seenBy(files)).toEqual({ ...nothing, inside: "a line\n" });
  // Without it, all of that is there: the links are good ones.
  expect(await seenBy(localFiles)).toMatchObject({ whole: "the secret\n", lines: 1, listed: 1, behind: "{}" });

  const file = { path: join(own, "spool", "hook.sh"), content: "x", isExecutable: true };
  await expect(files.write(file)).rejects.toThrow();
  await files.remove(join(own, "spool", "record.json")).catch(() => undefined);
  expect(readdirSync(join(outside, "spool"))).toEqual(["record.json"]);
  await files.makeDirectory(join(own, "spool"));
  await files.write(file);
  expect(readdirSync(join(own, "spool"))).toEqual(["hook.sh"]);
  expect(readdirSync(join(outside, "spool"))).toEqual(["record.json"]);
});
