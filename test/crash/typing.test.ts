/**
 * kill -9 of the daemon while a message is on its way into a terminal: after
 * the paste and before Enter, after Enter, before either. The
 * message is delivered once or said to be unknown, and what is sent next
 * arrives as it was sent, never together with what the crash left behind.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { pressInPane } from "../support/pane.ts";
import { readIfThere } from "../support/read-if-there.ts";
import type { EventRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { crashingAt, expectEventLogComplete } from "./crashing.ts";

let home: TestHome;
let count = 0;
beforeAll(() => {
  home = createTestHome();
});
afterAll(() => home.dispose());

const POINTS = ["send.leased", "type.between", "send.pasted", "send.after-effect"];

async function outcomeOf(messageId: string): Promise<EventRow> {
  return eventually("its outcome is known", async () =>
    (await home.events()).find(
      (event) =>
        event.data["message_id"] === messageId && ["message-delivered", "message-unknown"].includes(event.type),
    ),
  );
}

/** Sends while the point is armed. Where what lies around it is one act of tmux's, it is never passed: then nothing dies. */
async function sendThrough(point: string, name: string, text: string): Promise<string> {
  const send = async (): Promise<string> =>
    (JSON.parse((await home.run(["send", name, text, "--json"])).stdout) as { message_id: string }).message_id;
  if (point === "send.leased" || point === "send.after-effect") {
    let id = "";
    await crashingAt(home, point, async () => void (id = await send()));
    return id;
  }
  home.failAt(point);
  const id = await send();
  await outcomeOf(id);
  // Disarmed, so that it does not hit what comes next.
  home.failAt("none");
  return id;
}

describe.each(["cat", "a raw reader"])("a plain command: %s", (kind) => {
  test.each(POINTS)("killed at %s: once or unknown, and the next is not fused with it", async (point) => {
    const name = `command-${++count}`;
    const file = join(home.dir, `${name}.received`);
    const script =
      kind === "cat" ? `exec cat > ${file}` : `stty raw -echo; touch ${file}; exec dd bs=1 of=${file} 2>${file}.log`;
    await home.json("start", "command", "--name", name, "--cwd", home.dir, "--", "sh", "-c", script);
    await eventually("it reads", () => readIfThere(file) !== undefined);
    const outcome = await outcomeOf(await sendThrough(point, name, "alpha"));
    expect(await home.json("send", name, "beta")).toMatchObject({ state: "delivered" });
    const end = kind === "cat" ? "\n" : "\r";
    const received = await eventually("the next one is there", () => {
      const text = readFileSync(file, "utf8");
      return text.endsWith(`beta${end}`) && text;
    });
    expect([`alpha${end}beta${end}`, ...(outcome.type === "message-unknown" ? [`beta${end}`] : [])]).toContain(
      received,
    );
    await expectEventLogComplete(home);
  });
});

describe("the practice agent", () => {
  async function start(): Promise<{ name: string; id: string }> {
    const name = `practice-${++count}`;
    await home.json("start", "practice", "--name", name);
    const session = await eventually("it is idle", async () => {
      const found = await home.session(name);
      return found["activity"] === "idle" && found;
    });
    return { name, id: session.session_id };
  }

  async function promptsOf(name: string): Promise<readonly string[]> {
    const { messages } = await home.json<{ messages?: { role: string; text: string }[] }>("data", name);
    return messages?.filter((message) => message.role === "user").map((message) => message.text) ?? [];
  }

  test.each(POINTS)("killed at %s: once or unknown, and the next is not fused with it", async (point) => {
    const { name } = await start();
    const outcome = await outcomeOf(await sendThrough(point, name, "alpha"));
    expect(await home.json("send", name, "beta")).toMatchObject({ state: "delivered" });
    const prompts = await promptsOf(name);
    // A hook told of it, to whichever daemon was there.
    if (point === "send.after-effect") expect(outcome.type).toBe("message-delivered");
    expect([["alpha", "beta"], ...(outcome.type === "message-unknown" ? [["beta"]] : [])]).toContainEqual(prompts);
    await expectEventLogComplete(home);
  });

  test("its own text that a crash left in the input is cleared and delivered, once", async () => {
    const { name, id } = await start();
    await crashingAt(home, "send.leased", async () => {
      const sent = home.run(["send", name, "alpha", "--json"]);
      await eventually("the daemon died", () => !home.isFailpointArmed());
      // What a daemon that pasted and then died would have left: nobody else can bring it about at will.
      await pressInPane(home, id, "-l", "alpha");
      await sent;
    });
    await eventually("it was taken", async () => (await promptsOf(name)).length > 0);
    expect(await home.json("send", name, "beta")).toMatchObject({ state: "delivered" });
    expect(await promptsOf(name)).toEqual(["alpha", "beta"]);
    const outcomes = (await home.events()).filter(
      ({ session_id, type }) => session_id === id && type.startsWith("message-"),
    );
    expect(outcomes.map(({ type }) => type)).toEqual([
      "message-admitted",
      "message-delivered",
      "message-admitted",
      "message-delivered",
    ]);
  });

  test("what a terminal answered too late, which nobody typed, is cleared", async () => {
    const { name, id } = await start();
    await pressInPane(home, id, "-l", ">|tmux 3.3a1;2c");
    expect(await home.json("send", name, "a message")).toMatchObject({ state: "delivered" });
    expect(await promptsOf(name)).toEqual(["a message"]);
  });

  test("its own text is cleared with what a terminal answered too late", async () => {
    const { name, id } = await start();
    await crashingAt(home, "send.leased", async () => {
      const sent = home.run(["send", name, "alpha", "--json"]);
      await eventually("the daemon died", () => !home.isFailpointArmed());
      await pressInPane(home, id, "-l", ">|tmux 3.3a1;2calpha");
      await sent;
    });
    expect(await home.json("send", name, "beta", "--timeout", "30")).toMatchObject({ state: "delivered" });
    expect((await promptsOf(name)).at(-1)).toBe("beta");
    expect((await promptsOf(name)).join("\n")).not.toContain("tmux");
  });

  test("a person's unsent text is waited for, and the wait is explained", async () => {
    const { name, id } = await start();
    await pressInPane(home, id, "-l", "half a thought");
    const sent = await home.json("send", name, "a message", "--timeout", "1");
    expect(sent).toMatchObject({ state: "admitted", detail: expect.stringContaining("unsent text in its input") });
    const explained = await home.json("explain", name);
    expect(JSON.stringify(explained)).toContain("unsent text in its input");
    expect(await promptsOf(name)).toEqual([]);
    await pressInPane(home, id, "Enter");
    await eventually("both were taken", async () => (await promptsOf(name)).length === 2);
    expect(await promptsOf(name)).toEqual(["half a thought", "a message"]);
  });
});
