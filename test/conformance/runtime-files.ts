/** A session's files and programs, reached through its runtime alone. */
import { expect, it } from "vitest";
import type { FileChange } from "../../src/runtime/session-files.ts";
import { eventually } from "../support/eventually.ts";
import { first, type Ground } from "./runtime-ground.ts";

const SMALL = { mostBytes: 1_000 } as const;

export function testFiles(ground: Ground): void {
  const { shell, path, put, exit } = ground;

  it("writes files whole and for their user alone, and runs those that are programs", async () => {
    const { files } = ground.runtime;
    await files.write({ path: path("deep/down/run.sh"), content: "#!/bin/sh\necho ran\n", isExecutable: true });
    await put("plain", "é漢🙂");
    await ground.runtime.create(shell(first, "deep/down/run.sh > out; stat -c %a deep/down/run.sh plain deep > modes"));
    await exit(first);
    expect(await files.read(path("out"), SMALL)).toBe("ran\n");
    expect(await files.read(path("modes"), SMALL)).toBe("700\n600\n700\n");
    expect(await files.read(path("plain"), SMALL)).toBe("é漢🙂");
  });

  it("reads nothing but plain files of the size that was asked for", async () => {
    const { files } = ground.runtime;
    await ground.runtime.create(
      shell(first, "mkdir dir; mkfifo pipe; echo hi > file; ln -s file link; ln -s nowhere dangling; seq 500 > large"),
    );
    await exit(first);
    const read = (file: string): Promise<string | null> => files.read(path(file), SMALL);
    expect(await Promise.all(["file", "link", "dir", "pipe", "dangling", "large", "missing"].map(read))).toEqual([
      "hi\n",
      "hi\n",
      null,
      null,
      null,
      null,
      null,
    ]);
    expect(await files.read(path("link"), { ...SMALL, refuseLinks: true })).toBe(null);
    expect(await files.read(path("file"), { ...SMALL, refuseLinks: true })).toBe("hi\n");
  });

  it("tells what is there, and what is not", async () => {
    const { files } = ground.runtime;
    await put("dir/a", "123");
    const about = await files.stat(path("dir/a"));
    expect(about).toMatchObject({ isFile: true, size: 3 });
    expect(await files.stat(path("dir"))).toMatchObject({ isFile: false, isDirectory: true });
    expect(await files.stat(path("dir/none"))).toBe(null);
    expect(await files.list(path("dir"))).toEqual([{ name: "a", isFile: true, isDirectory: false }]);
    expect(await files.list(path("none"))).toEqual([]);
    // Written anew it is another file.
    await put("dir/a", "456");
    expect((await files.stat(path("dir/a")))?.identity).not.toBe(about?.identity);
    expect(await files.realPath(path("dir/a"))).toContain("dir/a");
    expect(await files.realPath(path("none"))).toBe(null);
  });

  it("reads on where the last reading ended, and from the end", async () => {
    const { files } = ground.runtime;
    const script = "echo one > log; while ! [ -e go ]; do sleep 0.01; done; printf 'two\\nthr' >> log; sleep 100";
    await ground.runtime.create(shell(first, script));
    // The shell makes the file before it writes to it.
    await eventually("a line is there", async () => (await ground.written("log")) !== "");
    const before = await files.readNewLines(path("log"), null);
    expect(before.lines.map(({ text }) => text)).toEqual(["one"]);
    await put("go", "");
    const after = await eventually("more was written", async () => {
      const next = await files.readNewLines(path("log"), before.cursor);
      return next.lines.length > 0 && next;
    });
    expect(after.lines.map(({ text }) => text)).toEqual(["two"]);
    expect(await files.readTail(path("log"), { bytes: 100, since: null })).toMatchObject({ lines: ["one", "two"] });
    expect(await files.readNewLines(path("none"), null)).toMatchObject({ lines: [], cursor: null });
    await expect(files.readTail(path("none"), { bytes: 1, since: null })).rejects.toThrow();
  });

  it("tells of changes in a directory and of a file until it is told to stop", async () => {
    const { files } = ground.runtime;
    await files.makeDirectory(path("spool"));
    await put("log", "");
    const heard: FileChange[] = [];
    const grown: FileChange[] = [];
    const inDirectory = await files.watch(path("spool"), (change) => heard.push(change));
    const ofFile = await files.watch(path("log"), (change) => grown.push(change));
    await ground.runtime.create(shell(first, "echo a > spool/.a; mv spool/.a spool/a.json; echo b >> log; sleep 100"));
    await eventually("the record", () => heard.some((change) => change.type === "changed" && change.name === "a.json"));
    await eventually("what was written", () => grown.some((change) => change.type === "changed" && change.written));
    inDirectory.close();
    ofFile.close();
    heard.length = 0;
    await put("spool/b.json", "{}");
    expect(await ground.written("spool/b.json")).toBe("{}");
    expect(heard).toEqual([]);
    await expect(files.watch(path("none"), () => undefined)).rejects.toThrow();
  });

  it("blanks what was read of a file that somebody appends to, and removes a directory with everything in it", async () => {
    const { files } = ground.runtime;
    await put("log", "one secret\ntwo\nthr");
    const { cursor } = await files.readNewLines(path("log"), null);
    const after = cursor === null ? null : await files.blankUpTo(path("log"), cursor);
    expect(await files.read(path("log"), { mostBytes: 100 })).toBe(`${" ".repeat(14)}\nthr`);
    await put("dir/inside/deep", "x");
    await files.removeTree(path("dir"));
    await files.removeTree(path("dir"));
    expect(await files.stat(path("dir"))).toBe(null);
    expect(after).toMatchObject({ offset: 15 });
  });

  it("removes files, and moves aside what is none", async () => {
    const { files } = ground.runtime;
    await put("record", "x");
    await put("dir/inside", "x");
    await files.remove(path("record"));
    await files.remove(path("record"));
    await files.remove(path("dir"));
    await files.removeLeftover(path("missing"));
    const names = (await files.list(path(""))).map(({ name }) => name);
    expect(names).toEqual(["dir.set-aside-1"]);
    await put("spool", "in the way");
    await files.makeDirectory(path("spool"));
    expect(await files.stat(path("spool"))).toMatchObject({ isFile: false });
    await files.removeLeftover(path("spool"));
    expect(await files.stat(path("spool"))).not.toBe(null);
  });

  it("finds programs as the session would, and asks them", async () => {
    const { files } = ground.runtime;
    await files.write({ path: path("tool"), content: '#!/bin/sh\necho "$1 $WORD"\n', isExecutable: true });
    await put("text", "no program");
    const cwd = path("");
    const found = await files.findProgram("./tool", { cwd, path: undefined });
    expect(found).not.toBe(null);
    expect(await files.findProgram("sh", { cwd, path: "/usr/bin:/bin" })).not.toBe(null);
    expect(await files.findProgram("sh", { cwd, path: "/nowhere" })).toBe(null);
    expect(await files.findProgram("./text", { cwd, path: undefined })).toBe(null);
    const options = { environment: { WORD: "said" }, timeoutMs: 20_000 };
    expect(await files.ask(found?.path ?? "", ["it"], options)).toBe("it said\n");
  });

  it("runs a program to its end: what it printed, its status, and an error if it cannot be run", async () => {
    const { files } = ground.runtime;
    const options = { environment: { PATH: "/usr/bin:/bin" }, timeoutMs: 20_000 };
    await files.write({
      path: path("tool"),
      content: '#!/bin/sh\ncat\necho "no $1" >&2\nexit 3\n',
      isExecutable: true,
    });
    const tool = (await files.findProgram("./tool", { cwd: path(""), path: undefined }))?.path ?? "";
    expect(await files.run(tool, ["way"], { ...options, input: "given\n" })).toEqual({
      status: 3,
      stdout: "given\n",
      stderr: "no way\n",
    });
    await expect(files.run(`${tool}-missing`, [], options)).rejects.toThrow();
    await expect(files.run("/bin/sleep", ["60"], { ...options, timeoutMs: 50 })).rejects.toThrow("did not end");
  });

  it("names the processes that work in a directory or have a file open there, and no others", async () => {
    const { files } = ground.runtime;
    await files.makeDirectory(path("here/below"));
    await files.makeDirectory(path("here-not"));
    expect(await files.processesIn(path("here"))).toEqual([]);
    await ground.runtime.create(shell(first, "cd here/below; exec sleep 100"));
    await eventually("it is there", async () => (await files.processesIn(path("here"))).length > 0);
    expect(await files.processesIn(path("here"))).toEqual([expect.stringMatching(/^process \d+ \(sleep\)$/)]);
    expect(await files.processesIn(path("here-not"))).toEqual([]);
    await ground.runtime.create(shell({ ...first, sessionId: "opener" }, "exec 9>here-not/open; exec sleep 100"));
    await eventually("it is open", async () => (await files.processesIn(path("here-not"))).length > 0);
    await expect(files.processesIn(path("nowhere"))).rejects.toThrow();
  });
}
