/** From where something was asked: the surface is in the events, in session_meta.log and in the story. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { connectSocket, connectStdio } from "../support/mcp-client.ts";
import { pressInPane } from "../support/pane.ts";
import { fetchOver } from "../support/socket-fetch.ts";
import type { TestHome } from "../support/test-home.ts";

type Fields = Readonly<Record<string, unknown>>;

const metaPath = (home: TestHome, id: string): string =>
  join(home.dir, "outputs", "agents", "agent", id, "session_meta.log");

function metaLines(home: TestHome, id: string): readonly Fields[] {
  const path = metaPath(home, id);
  if (!existsSync(path)) return [];
  const texts = readFileSync(path, "utf8").split("\n");
  return texts.filter((text) => text !== "").map((text) => JSON.parse(text) as Fields);
}

test("each answer says from where it was given: command line, HTTP, MCP, a rule, the terminal", () =>
  inHome("[[approval]]\nname = 'lists'\ntools = ['command']\nallow = ['ls']\n", async (home) => {
    const { session_id: id } = await home.json<{ session_id: string }>("start", "practice", "--persist-session");
    const reach = fetchOver(home.socketPath);
    const post = async (path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<number> =>
      (
        await reach(`http://localhost${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify(body),
        })
      ).status;
    const [stdio, socket] = [await connectStdio(home), await connectSocket(home)];
    const approved = { session: id, decision: "approved" };
    const ways: readonly (() => Promise<unknown>)[] = [
      () => home.json("approve", id),
      async () => {
        const { items } = await home.json<{ items: readonly { readonly number: number }[] }>("inbox");
        return await home.json("inbox", "answer", String(items[0]?.number), "approve");
      },
      () => post("/v1/approvals", approved),
      // A name that Reeve does not know is none; and one that it knows gives nobody anything.
      () => post("/v1/approvals", approved, { "reeve-surface": "operator" }),
      () => post("/v1/approvals", approved, { "reeve-surface": "board", authorization: "Bearer boss" }),
      () => stdio.ok("answer_approval", approved),
      () => socket.ok("answer_approval", approved),
      () => pressInPane(home, id, "y", "Enter"),
    ];
    for (const [index, answer] of ways.entries()) {
      await home.json("send", id, `ask touch ${index}`);
      await home.json("wait", id, "--for", "awaiting-approval");
      const outcome = await answer();
      if (index === 4) {
        expect(outcome).toBe(403);
        await home.json("approve", id);
      }
      await home.json("wait", id);
    }
    await home.json("send", id, "ask ls", "--wait");
    await post(`/v1/sessions/${id}/messages`, { text: "sleep 600" });
    await eventually("it sleeps", async () => (await home.session(id))["turn_open"] === true);
    // What was asked for and is taken back, each from elsewhere.
    const { message_id: waiting } = await home.json<{ message_id: string }>("send", id, "later");
    await post(`/v1/sessions/${id}/messages/${waiting}/cancel`, {});
    await post(`/v1/sessions/${id}/end`, { timeout_seconds: 0 });
    await home.json("end", id, "--cancel");
    await stdio.ok("send_message", { session: id, text: "sleep 601", how: "interrupt" });
    await eventually("it is interrupted", () => metaLines(home, id).some(({ kind }) => kind === "interrupted"));
    await socket.ok("restart_session", { session: id });
    await eventually("it is restarted", () => metaLines(home, id).some(({ kind }) => kind === "restarted"));
    await post(`/v1/sessions/${id}/end`, { grace_seconds: 0 });
    const lines = await eventually("its end is written", () => {
      const found = metaLines(home, id).filter(({ kind }) => kind !== "approval-asked");
      return found.filter(({ kind }) => kind === "ended").length === 2 && found;
    });
    expect(lines.map(({ kind, actor, via }) => [kind, actor, via])).toEqual([
      ["approval-answered", "operator", "cli"],
      ["approval-answered", "operator", "cli"],
      ["approval-answered", "operator", "http"],
      ["approval-answered", "operator", "http"],
      ["approval-answered", "operator", "cli"],
      ["approval-answered", "operator", "mcp"],
      ["approval-answered", "operator", "mcp"],
      ["approval-answered", "terminal", "terminal"],
      ["approval-answered", "rule:lists", "rule"],
      ["message-cancelled", "operator", "http"],
      ["end-cancelled", "operator", "cli"],
      ["interrupted", "operator", "mcp"],
      ["ended", "operator", "mcp"],
      ["restarted", "operator", "mcp"],
      ["ended", "operator", "http"],
    ]);
    const events = (await home.events()).filter(({ session_id: of }) => of === id);
    const told = (wanted: string): readonly unknown[] =>
      events.filter(({ type }) => type === wanted).map((event) => ("via" in event ? event.via : event.data["via"]));
    expect(told("approval-settled")).toEqual(["cli", "cli", "http", "http", "cli", "mcp", "mcp", undefined, undefined]);
    expect(told("approval-answer-requested")).toEqual(["cli", "cli", "http", "http", "cli", "mcp", "mcp", undefined]);
    expect([told("session-planned"), told("end-requested")]).toEqual([["cli"], ["http", "http"]]);
    expect((await home.run(["events", id])).stdout).toContain("will be ended (by the operator over HTTP)");
    expect((await home.run(["show", id])).stdout).toContain('approved by the operator over MCP: Run "touch 5"?');
    // Whoever takes back what they asked for has made no error.
    expect((await home.run(["show", id, "--errors"])).stdout).not.toContain("cancelled");
    await stdio.close();
    await socket.close();

    // A daemon that writes the log again says the same of each, also where something later was asked otherwise.
    const written = metaLines(home, id);
    await home.killDaemon();
    rmSync(metaPath(home, id));
    await home.daemonPid();
    await eventually("it is written again", () => metaLines(home, id).length === written.length);
    // The monotonic time of an event is known to the daemon that recorded it.
    const plain = (line: Fields): Fields => ({ ...line, mono_ms: null });
    expect(metaLines(home, id).map(plain)).toEqual(written.map(plain));
  }));
