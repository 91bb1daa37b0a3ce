/**
 * Transcripts that are torn, swollen, holed, cut, replaced or gone while their
 * session lives: `data` answers at once, no message stands there twice, no turn
 * counts twice, and what can no longer be read is said.
 */
import { appendFileSync, copyFileSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { askDaemon, askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import type { StandInCodex } from "../support/stand-in-codex.ts";
import { standInCodex } from "../support/stand-in-codex.ts";
import type { EventRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

interface Data {
  readonly source: string;
  readonly messages?: readonly { readonly role: string; readonly text: string }[];
  readonly text?: string;
  readonly truncated: boolean;
  readonly cursor: number | null;
  readonly note: string;
  readonly session: { readonly observability: { readonly status: string; readonly reason: string } };
}

const MOST_BYTES = 49_152;
/** Fault 38: the daemon answers within 5 s, whatever lies in its way. */
const ANSWERED_WITHIN_MS = 5_000;

let home: TestHome;
let codex: StandInCodex;
let talker = "";
let count = 0;
beforeAll(() => {
  home = createTestHome();
  home.configure(standInCodex(home).toml);
});
beforeEach(async () => {
  talker = `talker-${++count}`;
  codex = standInCodex(home);
  await codex.start(talker);
  codex.turn("t1", "go", "gone");
  await turnsAre(1);
});
afterAll(() => home.dispose());

async function data(query = ""): Promise<Data> {
  const askedAt = performance.now();
  const answer = await askDaemon<Data>(home, `/v1/sessions/${talker}/data${query}`);
  expect(performance.now() - askedAt).toBeLessThan(ANSWERED_WITHIN_MS);
  if (answer === null) throw new Error("the daemon is gone");
  return answer;
}

const textsOf = ({ messages = [] }: Data): readonly string[] => messages.map((message) => message.text);

async function turnsAre(turns: number): Promise<void> {
  await eventually(`turn ${turns} is over`, async () => {
    const session = await askSession(home, talker);
    return session?.["turns"] === turns && session["turn_open"] === false;
  });
}

async function expectTurnsOnce(turns: number): Promise<void> {
  const { events } = await home.json<{ events: EventRow[] }>("events", talker);
  const told = events
    .filter((event) => event.type.startsWith("turn-"))
    .map((event) => `${event.type} ${String(event.data["turn"])}`);
  const numbers = Array.from({ length: turns }, (_, index) => index + 1);
  expect(told).toEqual(numbers.flatMap((turn) => [`turn-started ${turn}`, `turn-completed ${turn}`]));
}

const observability = async (): Promise<unknown> =>
  ((await askSession(home, talker))?.["observability"] as { status: string } | undefined)?.status;

const line = (payload: object): string =>
  `${JSON.stringify({ timestamp: new Date().toISOString(), type: "event_msg", payload })}\n`;

/** Gone for the moment between the two, as with most programs that rewrite a file. */
function replace(content: string | Buffer): void {
  writeFileSync(`${codex.rolloutPath}.new`, content);
  renameSync(`${codex.rolloutPath}.new`, codex.rolloutPath);
}

test("torn in the middle of a line while it is read: what is whole is shown, the rest once it is", async () => {
  const whole = Buffer.from(
    line({ type: "task_started", turn_id: "t2" }) +
      line({ type: "user_message", message: "torn äöü 🦀", turn_id: "t2" }) +
      line({ type: "task_complete", turn_id: "t2", last_agent_message: "x" }),
  );
  const step = Math.ceil(whole.length / 23);
  for (let from = 0; from < whole.length; from += step) {
    appendFileSync(codex.rolloutPath, whole.subarray(from, from + step));
    const texts = textsOf(await data());
    expect([
      ["go", "gone"],
      ["go", "gone", "torn äöü 🦀"],
    ]).toContainEqual(texts);
  }
  await turnsAre(2);
  expect(textsOf(await data())).toEqual(["go", "gone", "torn äöü 🦀"]);
  await expectTurnsOnce(2);
});

test("a line of 20 MB: what comes after it is shown and counted; as the last one it hides nothing in silence", async () => {
  const long = line({ type: "user_message", message: "x".repeat(20 * 1024 * 1024), turn_id: "t1" });
  appendFileSync(codex.rolloutPath, long);
  expect(await data()).toMatchObject({ source: "screen" });
  codex.turn("t2", "after it", "still there");
  await turnsAre(2);
  const after = await data();
  expect(after).toMatchObject({ source: "transcript", truncated: true });
  expect(textsOf(after)).toEqual(["after it", "still there"]);
  expect(await observability()).toBe("observable");
  await expectTurnsOnce(2);
});

test("runs of NUL, and lines that are none: skipped, and the ones around them are not", async () => {
  appendFileSync(codex.rolloutPath, Buffer.alloc(65_536));
  codex.turn("t2", "after the hole", "mended");
  appendFileSync(
    codex.rolloutPath,
    '{"type":"event_msg","payload":{"type":"task_st{"glued":true}\nnonsense\n\n[]\nnull\n',
  );
  codex.turn("t3", "after nonsense", "sense");
  await turnsAre(3);
  expect(textsOf(await data())).toEqual(["go", "gone", "after the hole", "mended", "after nonsense", "sense"]);
  expect(await observability()).toBe("observable");
  await expectTurnsOnce(3);
});

/** Claude Code tells of the end about 100 ms before it writes down what it said. */
test("the reply is written after the end of its turn was told: whoever asks in between gets it", async () => {
  const { cursor } = await data();
  codex.event("task_started", { turn_id: "t2" });
  codex.event("user_message", { message: "look", turn_id: "t2" });
  codex.item({ type: "function_call", call_id: "c1", name: "shell", arguments: "{}" });
  codex.item({ type: "function_call_output", call_id: "c1", output: "seen" });
  codex.event("task_complete", { turn_id: "t2" });
  await turnsAre(2);
  const answers = Promise.all([data(), data(`?since=${cursor}`)]);
  await sleep(100);
  codex.item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "looked" }] });
  for (const answer of await answers) expect(textsOf(answer).slice(-4)).toEqual(["look", "", "seen", "looked"]);
});

test("nothing said in the turn is written when its end is told: the reply before it is not taken for its own", async () => {
  codex.event("task_started", { turn_id: "t2" });
  codex.event("task_complete", { turn_id: "t2" });
  await turnsAre(2);
  const answer = data();
  await sleep(100);
  codex.event("user_message", { message: "look", turn_id: "t2" });
  codex.item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "looked" }] });
  expect(textsOf(await answer)).toEqual(["go", "gone", "look", "looked"]);
});

describe("not the file that it was", () => {
  const noticed = async (): Promise<void> => {
    const { session_id } = await home.session(talker);
    const log = (): string => readFileSync(`${home.dir}/daemon.log`, "utf8");
    await eventually("the other file is noticed", () =>
      log()
        .split("\n")
        .some((entry) => entry.includes("was replaced") && entry.includes(session_id)),
    );
  };

  test.each([
    { what: "truncated in the middle of a line", act: () => truncateSync(codex.rolloutPath, 300) },
    { what: "replaced by a copy, by rename", act: () => replace(readFileSync(codex.rolloutPath)) },
    {
      what: "rotated: renamed, and begun anew",
      act: () => {
        copyFileSync(codex.rolloutPath, `${codex.rolloutPath}.1`);
        replace(line({ type: "context_compacted" }));
      },
    },
  ])("$what: nothing twice, and what comes next is read", async ({ act }) => {
    codex.turn("t2", "second", "done");
    await turnsAre(2);
    act();
    await noticed();
    await data();
    appendFileSync(codex.rolloutPath, "\n");
    codex.turn("t3", "third", "done too");
    await turnsAre(3);
    const texts = textsOf(await data());
    expect(texts.slice(-2)).toEqual(["third", "done too"]);
    expect(new Set(texts).size).toBe(texts.length);
    expect(await observability()).toBe("observable");
    await expectTurnsOnce(3);
  });

  test("deleted: lost, and said with the reason; the process runs, the screen is shown; back again, it is read on", async () => {
    rmSync(codex.rolloutPath);
    await eventually("it is lost", async () => (await observability()) === "lost");
    expect(await home.session(talker)).toMatchObject({
      state: "running",
      liveness: "running",
      observability: { status: "lost", reason: expect.stringContaining("was there and is gone") as string },
    });
    const { events } = await home.json<{ events: EventRow[] }>("events", talker);
    const changes = events.filter((event) => event.type === "observability-changed");
    expect(changes.map(({ data: { from, observability: now } }) => [from, (now as { status: string }).status])).toEqual(
      [
        ["pending", "observable"],
        ["observable", "lost"],
      ],
    );
    const shown = await home.json<Data>("data", talker);
    expect(shown.source).toBe("screen");
    expect(shown.note).toMatch(/From its screen\. .* was there and is gone/);
    expect((await home.run(["data", talker])).status).toBe(0);

    codex.turn("t2", "back again", "here");
    await eventually("it is observable", async () => (await observability()) === "observable");
    codex.turn("t3", "and on", "there");
    await eventually("it is read on", async () => (await askSession(home, talker))?.["last_turn"] === "completed");
    expect(textsOf(await data())).toEqual(["back again", "here", "and on", "there"]);
  });
});

describe("a tail of 48 KB", () => {
  const bytesOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

  test("is never more, is said to be cut, and never inside a character", async () => {
    // One to four bytes each, so that every cut falls into one of them sooner or later.
    for (let turn = 2; turn < 12; turn++) codex.turn(`t${turn}`, `prompt ${turn}`, "aé漢🦀".repeat(900 + turn));
    await turnsAre(11);
    for (const tail of [1, 2, 3, 4, 5, 4_096, 9_001, 9_002, 9_003, 20_000, MOST_BYTES]) {
      const answer = await data(`?tail=${tail}`);
      expect(answer).toMatchObject({ source: "transcript", truncated: true });
      expect(bytesOf(textsOf(answer))).toBeLessThanOrEqual(tail);
      expect(textsOf(answer).join("")).not.toContain("\uFFFD");
    }
    const most = textsOf(await data());
    expect(bytesOf(most)).toBeGreaterThan(MOST_BYTES / 8);
    expect(most.at(-1)).toBe("aé漢🦀".repeat(911));
  });

  test("of one message that is longer is its end", async () => {
    codex.turn("t2", "long", "漢字🦀".repeat(20_000));
    await turnsAre(2);
    const answer = await data();
    expect(answer.truncated).toBe(true);
    expect(textsOf(answer)).toHaveLength(1);
    expect(Buffer.byteLength(textsOf(answer)[0] ?? "")).toBeGreaterThan(MOST_BYTES - 4);
    expect(bytesOf(textsOf(answer))).toBeLessThanOrEqual(MOST_BYTES);
    expect("漢字🦀".repeat(20_000).endsWith(textsOf(answer)[0] ?? "-")).toBe(true);
  });

  test("of a screen is no more either", async () => {
    talker = `printer-${count}`;
    const print = 'i=0; while [ $i -lt 1500 ]; do echo "$i 漢字🦀漢字🦀漢字🦀漢字🦀"; i=$((i+1)); done; exec sleep 600';
    await home.json("start", "command", "--name", talker, "--", "sh", "-c", print);
    await eventually("it printed", async () =>
      (await data()).text?.trimEnd().endsWith("1499 漢字🦀漢字🦀漢字🦀漢字🦀"),
    );
    const answer = await data();
    expect(answer).toMatchObject({ source: "screen", truncated: true });
    expect(Buffer.byteLength(answer.text ?? "")).toBeLessThanOrEqual(MOST_BYTES);
    expect(answer.text).not.toContain("\uFFFD");
  });
});
