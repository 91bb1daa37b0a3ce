/** What is typed into a session arrives exactly, once, in order; or is refused with a reason. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { readIfThere } from "../support/read-if-there.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
beforeEach(() => {
  home = createTestHome();
});
afterEach(() => home.dispose());

const received = (): string => readIfThere(join(home.dir, "received")) ?? "";

async function startCat(): Promise<void> {
  await home.json("start", "command", "--name", "cat", "--cwd", home.dir, "--", "sh", "-c", "exec cat > received");
  await eventually("it runs", async () => (await home.session("cat")).state === "running");
}

/** Exactly `bytes` of UTF-8 in lines that a cooked terminal takes, with characters of one to four bytes. */
function textOf(bytes: number): string {
  const line = "plain äöü 漢字 🦀 0123456789\n";
  const whole = line.repeat(Math.floor(bytes / Buffer.byteLength(line)));
  return whole + "x".repeat(bytes - Buffer.byteLength(whole) - 1) + "\n";
}

test("1 MB with multi-byte characters arrives byte for byte in cat > file", async () => {
  await startCat();
  const text = textOf(1_048_576);
  expect(Buffer.byteLength(text)).toBe(1_048_576);
  const file = join(home.dir, "message");
  writeFileSync(file, text);
  const answer = await home.json("send", "cat", "--file", file, "--no-enter", "--timeout", "20");
  expect(answer).toMatchObject({ state: "delivered" });
  await eventually("all of it is there", () => Buffer.byteLength(received()) === 1_048_576, 20_000);
  expect(received() === text).toBe(true);
});

test("one byte more is refused, and nothing is typed", async () => {
  await startCat();
  const { status, stdout } = await home.run(["send", "cat", "-", "--no-enter", "--json"], { input: textOf(1_048_577) });
  expect(status).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "message-too-long" } });
  expect((await home.events()).filter((event) => event.type.startsWith("message-"))).toEqual([]);
});

test("a line that a cooked terminal would cut is refused, and what follows still arrives", async () => {
  await startCat();
  const refused = await home.run(["send", "cat", "y".repeat(5_000), "--json"]);
  expect(refused.status).toBe(1);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    state: "refused",
    detail: expect.stringContaining("line") as string,
  });
  expect(await home.json("send", "cat", "z".repeat(4_000))).toMatchObject({ state: "delivered" });
  await eventually("it is there", () => received() === `${"z".repeat(4_000)}\n`);
});

test("messages sent at once arrive once each and in the order of their admission", async () => {
  await startCat();
  const texts = Array.from({ length: 20 }, (_, index) => `message ${index}`);
  await Promise.all(texts.map((text) => home.json("send", "cat", text)));
  const lines = await eventually("all are there", () => {
    const found = received().trim().split("\n");
    return found.length === 20 && found;
  });
  expect(lines.toSorted()).toEqual(texts.toSorted());
  const events = await home.events();
  const order = (type: string) =>
    events.filter((event) => event.type === type).map((event) => event.data["message_id"]);
  expect(order("message-delivered")).toEqual(order("message-admitted"));
});

test("a paused session gets its messages when it is resumed", async () => {
  await startCat();
  await home.json("pause", "cat");
  // At once: nobody waits for what cannot happen.
  expect(await home.json("send", "cat", "held back", "--timeout", "60")).toMatchObject({
    state: "admitted",
    detail: "It is paused, and what is sent to it is held back; let it go on with: reeve resume cat.",
  });
  expect((await home.run(["explain", "cat"])).stdout).toContain("let it go on with: reeve resume cat");
  expect((await home.run(["messages", "cat"])).stdout).toContain("reeve resume cat");
  expect(received()).toBe("");
  await home.json("resume", "cat");
  await eventually("it is delivered", () => received() === "held back\n");
});

test("a message that an ended session cannot take is refused, also when it was already waiting", async () => {
  await startCat();
  await home.json("pause", "cat");
  const { message_id } = await home.json<{ message_id: string }>("send", "cat", "too late", "--timeout", "0");
  await home.json("end", "cat");
  await eventually("it is refused", async () =>
    (await home.events()).some((event) => event.type === "message-refused" && event.data["message_id"] === message_id),
  );
  const { status, stdout } = await home.run(["send", "cat", "later still", "--json"]);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "session-ended" } });
});

test("control characters are refused, escape sequences in output never come back", async () => {
  await startCat();
  for (const text of ["\u001b[201~rm", "a\u0003b", "a\rb", "a\u009bb"]) {
    const { status, stdout } = await home.run(["send", "cat", "-", "--json"], { input: text });
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "message-not-text" } });
  }
  const nasty = String.raw`printf '\033]0;title\007\033]52;c;aGk=\007\033[31mred\033[0m \033]8;;http://x\033\\link\033]8;;\033\\ \033P1$r\033\\ \302\233 x\ndone!\n'; exec sleep 600`;
  await home.json("start", "command", "--name", "nasty", "--", "sh", "-c", nasty);
  await eventually("it printed", async () => (await home.run(["data", "nasty"])).stdout.includes("done"));
  const outputs = [
    (await home.run(["data", "nasty"])).stdout,
    (await home.run(["data", "nasty", "--json"])).stdout,
    (await home.run(["list", "--json"])).stdout,
    (await home.run(["events", "--json"])).stdout,
  ];
  for (const output of outputs) expect(output).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  expect(outputs[0]).toContain("red");
  const { outputs_dir } = await home.session("nasty");
  const log = await eventually("its output was recorded", () => {
    const text = readIfThere(join(String(outputs_dir), "output.log")) ?? "";
    return text.includes("done") && text;
  });
  expect(log).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
});
