/** Input that is nested thousands of levels deep is refused like any other that is wrong, over every surface. */
import { request } from "node:http";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { shakeHands, speakLines } from "../support/rpc-lines.ts";
import type { TestHome } from "../support/test-home.ts";

const DEPTHS = [100, 5_000, 50_000];
const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const inObjects = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
/** Written by hand: a client that makes JSON of it would break before the daemon does. */
const starts = DEPTHS.flatMap((levels) => [
  `{"agent":"command","cwd":"/","args":${nested(levels)}}`,
  `{"agent":"command","cwd":${inObjects(levels)},"args":["true"]}`,
  `{"agent":"command","cwd":"/","args":["true"],"environment":${inObjects(levels)}}`,
  `{"agent":"command","cwd":"/","args":["true"],"timeouts":${nested(levels)}}`,
]);
const asTool = (args: string, id: number): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"start_session","arguments":${args}}}`;

function post(home: TestHome, path: string, text: string): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      host: "localhost",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "content-length": Buffer.byteLength(text),
    };
    const sent = request({ socketPath: home.socketPath, method: "POST", path, headers }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (part: string) => (body += part));
      response.once("end", () => resolve({ status: response.statusCode, body }));
    });
    sent.once("error", reject);
    sent.end(text);
  });
}

test("over HTTP, MCP over HTTP and MCP over stdio", () =>
  inHome("", async (home) => {
    await home.json("daemon", "start");
    for (const start of starts) {
      const answer = await post(home, "/v1/sessions", start);
      expect([answer.status, (JSON.parse(answer.body) as { code: string }).code]).toEqual([400, "bad-request"]);
    }
    const lines = speakLines(home);
    await shakeHands(lines);
    for (const [index, start] of starts.entries()) {
      const id = 1_000 + index;
      lines.write(asTool(start, id));
      const reply = await eventually("it is answered", () => lines.replies.find((one) => one.id === id));
      expect(JSON.stringify(reply)).toContain("bad-request");
      const over = await post(home, "/mcp", asTool(start, id));
      expect([over.status, over.body]).toEqual([200, expect.stringContaining("bad-request") as string]);
    }
    expect((await lines.ask("ping")).result).toEqual({});
    expect(await lines.end()).toBe(0);
    expect(await home.list()).toEqual([]);
  }));
