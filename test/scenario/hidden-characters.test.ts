/**
 * Zero-width, bidirectional and tag characters. Nobody approves a
 * command that looks like another one, and none of them reaches a terminal raw;
 * a transcript keeps what was written, and a program gets it exactly.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { readIfThere } from "../support/read-if-there.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

/** Reads as `rm -rf tset.txt`, and is another one. */
const COMMAND = "rm -rf \u202etxt.test\u2066 r\u200bm \u{e0068}\u{e0069}";
const SHOWN = "rm -rf <U+202E>txt.test<U+2066> r<U+200B>m <U+E0068><U+E0069>";
const RAW = /[\u200b\u202a-\u202e\u2060-\u2069\ufeff]|\udb40/;
const FAMILY = "👨‍👩‍👧";

let home: TestHome;
beforeAll(() => {
  home = createTestHome();
});
afterAll(() => home.dispose());

async function prints(...words: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await home.run(words);
  expect(status, stderr).toBe(0);
  expect(`${stdout}${stderr}`).not.toMatch(RAW);
  return stdout;
}

test("a question shows them wherever it is told, is answered, and its transcript keeps them", async () => {
  await prints("start", "practice", "--name", "asker", `ask ${COMMAND}`);
  await eventually("it asks", async () => (await askSession(home, "asker"))?.["activity"] === "awaiting-approval");
  for (const words of [["approvals"], ["list"], ["events", "asker"]]) {
    expect(await prints(...words, "--json")).toContain(SHOWN);
    expect(await prints(...words)).toContain("<U+202E>");
  }
  await prints("approve", "asker");
  await eventually("its turn is over", async () => (await askSession(home, "asker"))?.["activity"] === "idle");
  await prints("send", "asker", `say ${FAMILY} and \u202ebackwards`, "--wait");
  expect(await prints("data", "asker")).toContain(`say ${FAMILY} and <U+202E>backwards`);
  const { messages } = JSON.parse(await prints("data", "asker", "--json")) as { messages: { text: string }[] };
  expect(messages.map(({ text }) => text)).toContain(`say ${FAMILY} and \u202ebackwards`);
  await prints("end", "asker");
});

test("what a program prints shows them in its log and on its screen", async () => {
  const said = `${FAMILY} ${COMMAND}`;
  const started = await prints("start", "command", "--name", "printer", "--json", "--", "printf", "%s\\n", said);
  const { outputs_dir } = JSON.parse(started) as { outputs_dir: string };
  await eventually("it has exited", async () => (await askSession(home, "printer"))?.["exit"] !== null);
  await eventually("its output is written", () => {
    const log = readIfThere(join(outputs_dir, "output.log")) ?? "";
    expect(log).not.toMatch(RAW);
    return log.includes(`${FAMILY} ${SHOWN}`);
  });
  expect(await prints("data", "printer")).toContain(FAMILY);
  await prints("list");
  await prints("end", "printer");
});

test("a name holds none, and what is refused is told without them", async () => {
  const { status, stdout, stderr } = await home.run(["start", "practice", "--name", "as\u202eker"]);
  expect(status).not.toBe(0);
  expect(`${stdout}${stderr}`).not.toMatch(RAW);
  const missing = await home.run(["start", "practice", "--cwd", "/no/\u202esuch"]);
  expect(missing.status).not.toBe(0);
  expect(missing.stderr).toContain("/no/<U+202E>such");
});
