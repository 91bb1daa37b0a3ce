import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { amend } from "../../session/amend.ts";
import { type ArchiveGround, makeGround, SECRET } from "./archive-fixture.ts";
import { findImport, type Imported, importArchive, listImports, readImportedStory, removeImport } from "./imports.ts";
import { lineWithoutSecrets } from "./archive-content.ts";
import type { Manifest } from "./archive-format.ts";
import { unfinishedName } from "../../platform/unfinished-file.ts";
import type { UnpackLimits } from "./unpack-archive.ts";

let ground: ArchiveGround;
let archive: string;

beforeEach(() => {
  ground = makeGround();
  archive = join(ground.root, "one.tar.gz");
});

afterEach(() => ground.remove());

/** With GNU tar, as whoever gets it would. */
function unpacked(): { readonly directory: string; readonly manifest: Manifest } {
  const into = join(ground.root, "unpacked");
  mkdirSync(into);
  execFileSync("tar", ["--extract", "--gzip", "--file", archive, "--directory", into]);
  const directory = join(into, ground.session.id);
  return { directory, manifest: JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8")) as Manifest };
}

function takeIn(path: string, now = 0, limits?: UnpackLimits): Promise<Imported> {
  const request = { path, outputsDir: ground.outputs, now, key: null };
  return importArchive(limits === undefined ? request : { ...request, limits });
}

describe("an archive of a session", () => {
  test("GNU tar unpacks it, sha256sum confirms every file, and the manifest names them all in the order of the archive", async () => {
    const written = await ground.archive(archive);
    const { directory, manifest } = unpacked();
    expect(manifest).toEqual(written.manifest);
    expect(statSync(archive).size).toBe(written.bytes);
    expect(statSync(archive).mode & 0o777).toBe(0o600);
    const listed = execFileSync("tar", ["--list", "--file", archive], { encoding: "utf8" }).trim().split("\n");
    expect(listed).toEqual(
      [...manifest.files.map(({ path }) => path), "manifest.json"].map((path) => `${ground.session.id}/${path}`),
    );
    expect(manifest.files.map(({ path }) => path)).toEqual([
      "files/debug.log",
      "files/notes/extra.txt",
      "files/output.log",
      "files/runtime.json",
      "files/session.log",
      "files/session_meta.log",
      "files/session_oai_raw.log",
      "files/session_oai_raw.log.1",
      "files/state.json",
      "files/terminal.cast",
      "files/transcript.jsonl",
      "session.json",
      "events.jsonl",
      "mail.jsonl",
      "story.jsonl",
      "report.html",
    ]);
    const sums = manifest.files.map(({ path, sha256 }) => `${sha256}  ${path}\n`).join("");
    execFileSync("sha256sum", ["--check", "--strict"], { cwd: directory, input: sums });
    expect(readdirSync(ground.root).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("no secret is in it, hooks and captures on their way stay out, and no planted link is followed", async () => {
    await ground.archive(archive);
    const { directory, manifest } = unpacked();
    execFileSync("sh", ["-c", `! grep --recursive --quiet "${SECRET}" "${directory}"`]);
    expect(readFileSync(join(directory, "files/debug.log"), "utf8")).toMatch(/^the agent logs \[redacted.*\] here\n$/);
    expect(readFileSync(join(directory, "files/transcript.jsonl"), "utf8")).toContain("run the tests");
    expect(manifest.left_out.join("\n")).toContain("planted.txt: it is no plain file.");
    expect(manifest.left_out.join("\n")).toContain("rollout-planted.jsonl: it is no plain file.");
    expect(manifest.left_out.join("\n")).toContain("cannot understand them: 1 line of session_meta.log.");
    expect(existsSync(join(directory, "files/spool"))).toBe(false);
    expect(existsSync(join(directory, "files/native"))).toBe(false);
  });

  test("a secret is found in JSON however it is written there, and a line without one stays as it is", () => {
    const hide = (text: string): string => text.replaceAll('a"b\nc', "[redacted]");
    expect(lineWithoutSecrets(JSON.stringify({ x: ['say a"b\nc!'] }), hide)).toBe('{"x":["say [redacted]!"]}');
    const untouched = '{ "n": 12345678901234567890,  "t":"x" }';
    expect(lineWithoutSecrets(untouched, hide)).toBe(untouched);
    expect(lineWithoutSecrets('torn a"b\nc', hide)).toBe("torn [redacted]");
  });

  test("files that grow meanwhile are cut where they were, and another file is never overwritten", async () => {
    const grower = setInterval(() => appendFileSync(join(ground.directory, "output.log"), "more\n".repeat(1_000)), 0);
    try {
      await ground.archive(archive);
    } finally {
      clearInterval(grower);
    }
    unpacked();
    await expect(ground.archive(archive)).rejects.toMatchObject({ code: "file-exists" });
    writeFileSync(archive, "mine");
    await expect(ground.archive(archive)).rejects.toMatchObject({ code: "file-exists" });
    expect(readFileSync(archive, "utf8")).toBe("mine");
    await expect(ground.archive(join(ground.root, "nowhere", "x.tar.gz"))).rejects.toMatchObject({
      code: "cannot-export",
    });
  });
});

describe("a log that becomes the older one meanwhile", () => {
  const log = (): string => join(ground.directory, "session_oai_raw.log");
  const rotate = (content: string): void => {
    renameSync(log(), `${log()}.1`);
    writeFileSync(log(), content);
  };

  test("is in the archive once, beside the one after it", async () => {
    let count = 0;
    rmSync(`${log()}.1`);
    let rotating = setImmediate(function again() {
      rotate(`${(count += 1)}\n`);
      rotating = setImmediate(again);
    });
    try {
      await ground.archive(archive);
    } finally {
      clearImmediate(rotating);
    }
    const { directory, manifest } = unpacked();
    const [older, newer] = ["session_oai_raw.log.1", "session_oai_raw.log"].map((name) =>
      Number(readFileSync(join(directory, "files", name), "utf8")),
    );
    expect(count).toBeGreaterThan(2);
    expect(newer).toBe((older ?? Number.NaN) + 1);
    const paths = manifest.files.map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
  });

  test("is in the story once, whenever that happens", async () => {
    for (let step = 0; step < 60; step += 1) {
      const { directory, story, remove } = makeGround();
      const path = join(directory, "session_oai_raw.log");
      let left = step;
      let isRotated = false;
      let waiting = setImmediate(function count() {
        if (left > 0) {
          left -= 1;
          waiting = setImmediate(count);
          return;
        }
        isRotated = true;
        renameSync(path, `${path}.1`);
        writeFileSync(path, "");
      });
      const { entries } = await story();
      clearImmediate(waiting);
      remove();
      const calls = entries.filter(({ type }) => type === "model-call").map(({ data }) => data["exchange"]);
      expect(
        calls.filter((call) => call === "2"),
        `at step ${step}`,
      ).toHaveLength(1);
      if (!isRotated) break;
    }
  });
});

test("an archive that nobody was told of is written anew; one that somebody was told of stays", async () => {
  const gone = execFileSync("sh", ["-c", "echo $$"], { encoding: "utf8" }).trim();
  writeFileSync(archive, "unknown to anybody");
  linkSync(archive, join(ground.root, `.one.tar.gz.${gone}-1-0123abcd.part`));
  await ground.archive(archive);
  unpacked();
  expect(readdirSync(ground.root).filter((name) => name.endsWith(".part"))).toEqual([]);
  linkSync(archive, join(ground.root, "mine"));
  await expect(ground.archive(archive)).rejects.toMatchObject({ code: "file-exists" });
});

test("what a killed export left beside the archive is removed by the next one, and nothing else", async () => {
  const gone = execFileSync("sh", ["-c", "echo $$"], { encoding: "utf8" }).trim();
  const abandoned = [".one.tar.gz.", ".two.tar.gz."].map((begin) => `${begin}${gone}-1-0123abcd.part`);
  const others = [unfinishedName(archive, "stage"), join(ground.root, ".one.tar.gz.mine.part")];
  for (const path of [...abandoned.map((name) => join(ground.root, name)), ...others]) writeFileSync(path, "x");
  await ground.archive(archive);
  expect(abandoned.map((name) => existsSync(join(ground.root, name)))).toEqual([false, true]);
  expect(others.map((path) => existsSync(path))).toEqual([true, true]);
});

test("the story of a session whose transcript is gone is told from the copy in its directory", async () => {
  const before = await ground.story();
  rmSync(join(ground.directory, "transcript.jsonl"));
  renameSync(join(ground.root, "native-transcript.jsonl"), join(ground.directory, "transcript.jsonl"));
  const { observability } = ground.session.watch;
  const lost = amend(ground.session, { watch: { observability: { ...observability, status: "lost" } } });
  expect((await ground.story(lost)).entries).toEqual(before.entries);
});

describe("an import", () => {
  test("tells the same story, has a report of this Reeve's own, and can be removed", async () => {
    await ground.archive(archive);
    const imported = await takeIn(archive, 1_000);
    const { entries } = await readImportedStory(imported);
    expect(entries).toEqual((await ground.story()).entries);
    expect(readFileSync(imported.report, "utf8")).toContain("(imported)");
    expect(readFileSync(join(imported.directory, "files/output.log"), "utf8")).toBe("out\n");
    expect(await listImports(ground.outputs)).toEqual([imported]);
    await removeImport(ground.outputs, imported.id);
    expect(await listImports(ground.outputs)).toEqual([]);
    expect(await findImport(ground.outputs, imported.id)).toBeNull();
    expect(readdirSync(join(ground.outputs, "imported"))).toEqual([]);
    await expect(removeImport(ground.outputs, imported.id)).rejects.toMatchObject({ code: "unknown-import" });
    await expect(removeImport(ground.outputs, "../agents")).rejects.toMatchObject({ code: "unknown-import" });
  });

  test("several at once do not disturb one another; what an interrupted one left is removed", async () => {
    await ground.archive(archive);
    mkdirSync(join(ground.outputs, "imported", ".import-leftover"), { recursive: true, mode: 0o700 });
    const imported = await Promise.all([1, 2, 3].map((now) => takeIn(archive, now)));
    expect(new Set(imported.map(({ id }) => id)).size).toBe(3);
    expect(readdirSync(join(ground.outputs, "imported")).toSorted()).toEqual(imported.map(({ id }) => id).toSorted());
  });
});

describe("a bad archive is refused, and nothing of it is kept", () => {
  /** An archive made anew by GNU tar, after the unpacked one was changed. */
  async function remade(
    change: (directory: string, manifest: Manifest) => void,
    ...options: readonly string[]
  ): Promise<string> {
    await ground.archive(archive);
    const { directory, manifest } = unpacked();
    change(directory, manifest);
    const made = join(ground.root, "made.tar.gz");
    const into = join(ground.root, "unpacked");
    execFileSync("tar", [
      "--create",
      "--gzip",
      "--format=ustar",
      "--file",
      made,
      "--directory",
      into,
      ...options,
      ...readdirSync(into),
    ]);
    return made;
  }

  async function refused(path: string, why: RegExp, code = "bad-archive", limits?: UnpackLimits): Promise<void> {
    const before = readdirSync(ground.root).toSorted();
    const error = await takeIn(path, 0, limits).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code, message: expect.stringMatching(why) as string });
    expect(readdirSync(join(ground.outputs, "imported"))).toEqual([]);
    expect(readdirSync(ground.root).toSorted()).toEqual(before);
  }

  const writeManifest = (directory: string, manifest: object): void =>
    writeFileSync(join(directory, "manifest.json"), JSON.stringify(manifest));

  test("what GNU tar makes of an unchanged one is taken", async () => {
    expect((await takeIn(await remade(() => undefined))).manifest.session_id).toBe(ground.session.id);
  });

  test.each<[string, RegExp, (directory: string, manifest: Manifest) => void, readonly string[]]>([
    [
      "a changed file",
      /output\.log in it is not what was packed/,
      (directory) => writeFileSync(join(directory, "files/output.log"), "otu\n"),
      [],
    ],
    ["a file more", /not in its manifest/, (directory) => writeFileSync(join(directory, "files/more"), ""), []],
    ["a strange file", /does not write, "evil\.sh"/, (directory) => writeFileSync(join(directory, "evil.sh"), ""), []],
    [
      "a symbolic link",
      /no plain file/,
      (directory) => execFileSync("ln", ["-s", "/etc", join(directory, "files/link")]),
      [],
    ],
    [
      "a hard link",
      /no plain file/,
      (directory) => execFileSync("ln", [join(directory, "files/output.log"), join(directory, "files/z")]),
      [],
    ],
    ["a pipe", /no plain file/, (directory) => execFileSync("mkfifo", [join(directory, "files/pipe")]), []],
    [
      "an absolute path",
      /the path "\/tmp/,
      () => undefined,
      ["--absolute-names", "--transform=s,^,/tmp/reeve-escape/,"],
    ],
    ["a path upwards", /the path "\.\./, () => undefined, ["--absolute-names", "--transform=s,^,../../,"]],
    [
      "a path upwards in the middle",
      /the path/,
      () => undefined,
      ["--absolute-names", "--transform=s,files/output,files/../../output,"],
    ],
    ["a strange name", /the path/, (directory) => writeFileSync(join(directory, "files/a\u001b[2Jb"), ""), []],
    [
      "a second session",
      /more than one session/,
      (directory) =>
        mkdirSync(join(directory, "..", "zzz")) !== undefined || writeFileSync(join(directory, "..", "zzz", "x"), ""),
      [],
    ],
    [
      "a newer version",
      /version 2 of the format/,
      (directory, manifest) => writeManifest(directory, { ...manifest, version: 2 }),
      [],
    ],
    ["another manifest", /not one of Reeve's/, (directory) => writeManifest(directory, { hello: 1 }), []],
    ["no manifest", /no manifest\.json/, (directory) => execFileSync("rm", [join(directory, "manifest.json")]), []],
    [
      "a missing file",
      /"files\/nope" is missing/,
      (directory, manifest) =>
        writeManifest(directory, {
          ...manifest,
          files: [...manifest.files, { path: "files/nope", bytes: 0, sha256: "" }],
        }),
      [],
    ],
  ])("%s", async (_what, why, change, options) => {
    await refused(await remade(change, ...options), why);
    expect(existsSync("/tmp/reeve-escape")).toBe(false);
  });

  test("one that was cut off, anywhere; one that is none; one that is not there", async () => {
    await ground.archive(archive);
    const whole = readFileSync(archive);
    const cut = join(ground.root, "cut.tar.gz");
    for (let length = 0; length < whole.length; length += Math.ceil(whole.length / 12)) {
      writeFileSync(cut, whole.subarray(0, length));
      await refused(cut, /damaged|too early|no manifest/);
    }
    writeFileSync(cut, "hello");
    await refused(cut, /no tar\.gz/);
    writeFileSync(cut, gzipSync("hello"));
    await refused(cut, /too early/);
    await refused(join(ground.root, "nope.tar.gz"), /There is no file/, "no-archive");
    await refused(ground.root, /cannot be imported/, "cannot-import");
  });

  test("one that unpacks to far more than it is, holds too much or too many files", async () => {
    await ground.archive(archive);
    const few = { files: 3, bytes: 1_000_000_000, ratio: 250, ratioFrom: 1_000_000 };
    await refused(archive, /more than 3 files/, "bad-archive", few);
    await refused(archive, /more than 4096 bytes/, "bad-archive", { ...few, files: 100, bytes: 4_096 });
    rmSync(archive);
    const bomb = await remade((directory) => writeFileSync(join(directory, "files", "bomb"), Buffer.alloc(20_000_000)));
    await refused(bomb, /packed too tightly/, "bad-archive", { ...few, files: 100 });
  });

  test("one with a file twice, or with something behind its end", async () => {
    await ground.archive(archive);
    unpacked();
    const twice = join(ground.root, "twice.tar");
    execFileSync("sh", [
      "-c",
      `gunzip < "${archive}" > "${twice}" && tar --append --file "${twice}" --directory "${join(ground.root, "unpacked")}" "${ground.session.id}/events.jsonl" && gzip "${twice}"`,
    ]);
    await refused(`${twice}.gz`, /events\.jsonl twice/);
    const behind = join(ground.root, "behind.tar.gz");
    const tar = execFileSync("gunzip", ["--stdout", archive]);
    writeFileSync(behind, gzipSync(Buffer.concat([tar, Buffer.from("x")])));
    await refused(behind, /something follows its end/);
  });

  test("whatever bytes are changed: it is taken as it was or refused, and no file appears anywhere else", async () => {
    await ground.archive(archive);
    const tar = gunzipSync(readFileSync(archive));
    const changed = join(ground.root, "changed.tar.gz");
    const before = readdirSync(ground.root).length + 1;
    const change = fc.array(fc.tuple(fc.nat(tar.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 });
    // Most of it are contents, which the checksums hold: half of the changes go into headers.
    const header = fc.array(fc.tuple(fc.nat(30), fc.nat(511), fc.nat(255)), { minLength: 1, maxLength: 4 });
    const heads = headersOf(tar);
    await fc.assert(
      fc.asyncProperty(change, header, fc.boolean(), fc.boolean(), async (changes, inHeads, isHead, isMended) => {
        const bytes = Buffer.from(tar);
        if (!isHead) for (const [place, value] of changes) bytes[place] = value;
        else
          for (const [which, place, value] of inHeads) {
            const head = heads[which % heads.length] ?? 0;
            bytes[head + place] = value;
            if (isMended) mendChecksum(bytes.subarray(head, head + 512));
          }
        writeFileSync(changed, gzipSync(bytes, { level: 1 }));
        const outcome = await takeIn(changed).then(
          ({ id }) => removeImport(ground.outputs, id).then(() => "taken"),
          (error: unknown) => (error as { code: string }).code,
        );
        expect(["taken", "bad-archive"]).toContain(outcome);
        expect(readdirSync(join(ground.outputs, "imported"))).toEqual([]);
        expect(readdirSync(ground.root).length).toBe(before);
      }),
      { numRuns: Number(process.env["REEVE_TEST_ARCHIVES"] ?? 60) },
    );
  });
});

function headersOf(tar: Buffer): readonly number[] {
  const found: number[] = [];
  for (let at = 0; tar[at] !== 0;) {
    found.push(at);
    const size = Number.parseInt(tar.toString("latin1", at + 124, at + 135), 8);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return found;
}

function mendChecksum(head: Buffer): void {
  head.write("        ", 148, "latin1");
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
}
