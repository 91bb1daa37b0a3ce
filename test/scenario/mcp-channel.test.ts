/** A client that is no session of Reeve's is told by `reeve mcp --channel`, as Claude Code takes it. */
import { expect, test } from "vitest";
import * as z from "zod";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { killIfThere } from "../support/kill.ts";
import type { Started } from "../support/mcp-answers.ts";
import { connectStdio } from "../support/mcp-client.ts";

interface Pushed {
  readonly content: string;
  readonly meta: { readonly count: string; readonly cursor: string };
}

const params = z.object({ content: z.string(), meta: z.object({ count: z.string(), cursor: z.string() }) });

test("it is woken for the sessions it started, and not for what it was told", () =>
  inHome("", async (home) => {
    const pushed: Pushed[] = [];
    const mcp = await connectStdio(home, {
      // Claude Code asks for the current protocol first, and takes what is pushed only where it got an older one.
      era: "modern",
      args: ["--channel"],
      prepare: (client) =>
        client.setNotificationHandler("notifications/claude/channel", { params }, (wake) => void pushed.push(wake)),
    });
    expect(mcp.client.getServerCapabilities()?.experimental).toEqual({ "claude/channel": {} });
    const cwd = home.dir;
    const command = { agent: "command", args: ["sleep", "600"], cwd };
    const [one, two] = await Promise.all([
      mcp.ok<Started>("start_session", { ...command, name: "one" }),
      mcp.ok<Started>("start_session", { ...command, name: "two" }),
    ]);
    await home.json("start", "command", "--name", "of-a-person", "--", "sleep", "600");
    for (const { session_id: id } of [one, two, await home.session("of-a-person")])
      for (const { pid } of home.marked(id)) killIfThere(pid);
    // What comes within half a second is one wake; a busy machine may take longer to see the second death.
    const told = (): string => pushed.map(({ content }) => content).join("\n");
    await eventually("it is woken for both", () => told().includes("one exited") && told().includes("two exited"));
    expect(pushed[0]?.content).toMatch(/^\[reeve\] wake \d+: (1 event|2 events) in sessions that you started: /);
    expect(pushed.reduce((sum, { meta }) => sum + Number(meta.count), 0)).toBe(2);
    expect(told()).not.toContain("of-a-person");
    const before = pushed.length;

    // Told by the answer of its own wait, and ended by itself: neither is pushed.
    const three = await mcp.ok<Started>("start_session", { agent: "practice", name: "three", prompt: "Say hi", cwd });
    await mcp.ok("wait_for_session", { session: three.session_id, since: three.cursor });
    await mcp.ok("end_session", { session: "three" });
    // What happens after it shows that all of it was heard.
    const four = await mcp.ok<Started>("start_session", { ...command, name: "four" });
    for (const { pid } of home.marked(four.session_id)) killIfThere(pid);
    await eventually("it is woken again", () => pushed.length > before);
    expect(told()).not.toContain("three");
    expect(pushed[before]?.content).toContain("four exited");
    await mcp.close();
  }));
