/** Resources, and being told when they change, over both transports and both protocols. */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { Started } from "../support/mcp-answers.ts";
import type { Tools } from "../support/mcp-client.ts";
import { connectSocket, connectStdio } from "../support/mcp-client.ts";

async function textOf({ client }: Tools, uri: string): Promise<Record<string, unknown>> {
  const { contents } = await client.readResource({ uri });
  const [content] = contents;
  return JSON.parse(content !== undefined && "text" in content ? content.text : "null") as Record<string, unknown>;
}

test("sessions, a transcript and events can be read, and a wrong address is refused in words", () =>
  inHome("", async (home) => {
    await home.run(["start", "practice", "--name", "w", "--wait", "Say hello"]);
    const { session_id: id } = await home.session("w");
    for (const mcp of [
      await connectStdio(home),
      await connectSocket(home),
      await connectStdio(home, { era: "legacy" }),
    ]) {
      const { resources } = await mcp.client.listResources();
      expect(resources.map(({ uri }) => uri)).toEqual(["reeve://sessions", "reeve://events"]);
      const { resourceTemplates } = await mcp.client.listResourceTemplates();
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(["reeve://sessions/{id}/transcript"]);
      expect(await textOf(mcp, "reeve://sessions")).toMatchObject({ sessions: [{ name: "w" }] });
      expect(await textOf(mcp, `reeve://sessions/${id}/transcript`)).toMatchObject({ source: "transcript" });
      const { events } = (await textOf(mcp, "reeve://events")) as { events: { type: string }[] };
      expect(events.map(({ type }) => type)).toContain("turn-completed");
      await expect(textOf(mcp, "reeve://nothing")).rejects.toThrow("There is no resource");
      await expect(textOf(mcp, "reeve://sessions/nobody/transcript")).rejects.toThrow("nobody");
      await mcp.close();
    }
    await home.json("end", "w");
  }));

test("who subscribed is told of changes, a few times and not for every event; who left is not", () =>
  inHome("", async (home) => {
    const started = await home.json<Started>("start", "practice", "--name", "w");
    const transcript = `reeve://sessions/${started.session_id}/transcript`;
    for (const mcp of [await connectStdio(home), await connectSocket(home)]) {
      const told: string[] = [];
      mcp.client.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.push(params.uri));
      const subscription = await mcp.client.listen({ resourceSubscriptions: [transcript] });
      await eventually("a change is told", async () => {
        await home.json("send", "w", "hello again");
        await home.json("wait", "w");
        return told.length > 0;
      });
      expect(new Set(told)).toEqual(new Set([transcript]));
      const events = (await home.events()).length;
      expect(told.length).toBeLessThan(events);
      await subscription.close();
      await mcp.close();
    }
    const old = await connectStdio(home, { era: "legacy" });
    const told: string[] = [];
    old.client.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.push(params.uri));
    await old.client.subscribeResource({ uri: "reeve://sessions" });
    await eventually("a change is told", async () => {
      await home.json("send", "w", "hello once more");
      await home.json("wait", "w");
      return told.length > 0;
    });
    expect(new Set(told)).toEqual(new Set(["reeve://sessions"]));
    await old.close();
    await home.json("end", "w", "--when", "now");
  }));
