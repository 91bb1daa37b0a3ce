/** What hooks leave in a spool is read once, in order, and deleted after it is committed. */
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { spoolDirOf } from "../../session/session-directory.ts";
import type { Readings } from "./readings.ts";
import { createSpool, type Spool } from "./spool.ts";
import { agentWith, type Ground, makeGround } from "./watch-fixture.ts";

const agent = agentWith({
  readHook: (record) =>
    typeof record === "object" && record !== null && "turn" in record
      ? { source: "hook", detail: "a hook", turn: { phase: "started", id: String(record.turn) } }
      : null,
});

let ground: Ground;
let spool: Spool;
let directory: string;

beforeEach(async () => {
  ground = await makeGround(agent);
  directory = spoolDirOf(ground.session().identity.outputsDir);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  spool = createSpool(ground.parts);
});
afterEach(async () => {
  await spool.close();
  await ground.dispose();
});

/** As a hook does it. */
function leave(name: string, content: string): void {
  writeFileSync(join(directory, `.${name}`), content);
  renameSync(join(directory, `.${name}`), join(directory, name));
}
const turn = (id: string): string => JSON.stringify({ turn: id });
const turns = (): readonly object[] => ground.events("turn-started");
const left = (): readonly string[] => readdirSync(directory);

describe("the spool", () => {
  test("what is there is read in order and deleted", async () => {
    leave("2.json", turn("second"));
    leave("1.json", turn("first"));
    await spool.follow(ground.session());
    expect(ground.events("turn-started")).toHaveLength(2);
    expect(ground.session().conversation.lastTurn).toMatchObject({ id: "second", earlier: ["first"] });
    expect(left()).toEqual([]);
  });

  test("what comes later is read when it comes, and not while it is being written", async () => {
    await spool.follow(ground.session());
    writeFileSync(join(directory, ".half.json"), '{"turn": "ha');
    leave("1.json", turn("first"));
    await eventually("it was read", () => turns().length === 1 && left().length === 1);
    expect(left()).toEqual([".half.json"]);
  });

  test("a record that was committed before a crash, and not deleted, counts once", async () => {
    leave("1.json", turn("first"));
    await spool.follow(ground.session());
    await spool.close();
    ground = await ground.restart();
    leave("1.json", turn("first"));
    spool = createSpool(ground.parts);
    await spool.follow(ground.session());
    expect([turns().length, left()]).toEqual([1, []]);
  });

  test("a record whose commit failed stays, and is read the next time", async () => {
    let isFull = true;
    const readings: Readings = {
      ...ground.readings,
      take: async (...args) => {
        if (isFull) throw new Error("the disk is full");
        await ground.readings.take(...args);
      },
    };
    spool = createSpool({ ...ground.parts, readings });
    leave("1.json", turn("first"));
    await spool.follow(ground.session());
    expect([turns().length, left()]).toEqual([0, ["1.json"]]);
    expect(ground.home.logged).toMatchObject([{ message: "hook records could not be read; tried again" }]);
    isFull = false;
    await spool.leave(ground.session());
    expect([turns().length, left()]).toEqual([1, []]);
  });

  test("what could not be committed is tried again, though no other record comes", async () => {
    let isFull = true;
    const readings: Readings = {
      ...ground.readings,
      take: async (...args) => {
        if (isFull) throw new Error("the disk is full");
        await ground.readings.take(...args);
      },
    };
    spool = createSpool({ ...ground.parts, readings });
    await spool.follow(ground.session());
    leave("1.json", turn("first"));
    await eventually("its commit failed", () => ground.home.logged.length === 1);
    isFull = false;
    await eventually("it counts", () => turns().length === 1 && left().length === 0);
  });

  test("what was left behind comes before what is told of next", async () => {
    let isFull = true;
    const readings: Readings = {
      ...ground.readings,
      take: async (...args) => {
        if (isFull) throw new Error("the disk is full");
        await ground.readings.take(...args);
      },
    };
    spool = createSpool({ ...ground.parts, readings });
    await spool.follow(ground.session());
    leave("1.json", turn("first"));
    await eventually("its commit failed", () => ground.home.logged.length === 1);
    isFull = false;
    leave("2.json", turn("second"));
    await eventually("both were read", () => left().length === 0);
    expect(ground.session().conversation.lastTurn).toMatchObject({ id: "second", earlier: ["first"] });
  });

  test("what was there comes before what is told of while nothing was read yet", async () => {
    leave("1.json", turn("first"));
    const { files } = ground.parts.runtime();
    const watch: typeof files.watch = async (path, tell) => {
      leave("2.json", turn("second"));
      tell({ type: "changed", name: "2.json", written: false });
      return await files.watch(path, tell);
    };
    spool = createSpool({ ...ground.parts, runtime: () => ({ files: { ...files, watch } }) });
    await spool.follow(ground.session());
    expect(left()).toEqual([]);
    expect(ground.session().conversation.lastTurn).toMatchObject({ id: "second", earlier: ["first"] });
  });

  test("a record is told of again when it is removed, and that is nothing to complain of", async () => {
    await spool.follow(ground.session());
    for (const [name, id] of [
      ["1.json", "first"],
      ["2.json", "second"],
    ] as const)
      leave(name, turn(id));
    await eventually("both were read", () => left().length === 0);
    leave("3.json", turn("third"));
    await eventually("so was the last", () => turns().length === 3 && left().length === 0);
    expect(ground.home.logged).toEqual([]);
  });

  test("what is no record is told of and removed, and holds up none behind it", async () => {
    const secret = join(ground.home.directory, "secret.json");
    writeFileSync(secret, turn("forged"));
    symlinkSync(secret, join(directory, "1.json"));
    leave("2.json", "{ no json");
    leave("3.json", JSON.stringify({ turn: "x".repeat(1_100_000) }));
    leave("4.json", JSON.stringify({ other: "what the agent does not know" }));
    leave("5.json", turn("last"));
    await spool.follow(ground.session());
    expect(ground.session()).toMatchObject({ conversation: { turns: 1, lastTurn: { id: "last" } } });
    expect([left().filter((name) => name.endsWith(".json")), existsSync(secret)]).toEqual([[], true]);
    expect(ground.home.logged.map(({ fields }) => fields)).toMatchObject([
      { name: "1.json" },
      { name: "2.json" },
      { name: "3.json" },
    ]);
  });

  test("left, what is there is read once more", async () => {
    await spool.follow(ground.session());
    leave("1.json", turn("first"));
    await spool.leave(ground.session());
    expect([turns().length, left()]).toEqual([1, []]);
  });
});
