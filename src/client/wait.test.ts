import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFixture, stopServer } from "./client-fixture.ts";
import type { Fixture } from "./client-fixture.ts";

let fixture: Fixture;
beforeEach(() => {
  fixture = createFixture();
});
afterEach(() => fixture.close());

const wake = (name: string) => ({ session_id: `id-${name}`, name, reason: "exited", ok: true, why: null });
const answer = (fields: object): string =>
  JSON.stringify({ done: false, ok: false, reason: "timeout", cursor: 5, session: {}, woken: [], ...fields });

describe("waitForSession", () => {
  it("answers at once what stands already", async () => {
    const urls: (string | undefined)[] = [];
    await fixture.serve((request, response) => {
      urls.push(request.url);
      response.end(answer({ done: true, reason: "exited", woken: [wake("a")] }));
    });
    expect(await fixture.client.waitForSession({ session: "a" })).toMatchObject({ done: true, reason: "exited" });
    expect(urls).toEqual(["/v1/sessions/a/wait?timeout_seconds=0"]);
  });

  it("goes on from its cursor when the daemon dies and another comes", async () => {
    const urls: (string | undefined)[] = [];
    const first = await fixture.serve((request, response) => {
      urls.push(request.url);
      if (urls.length === 1) response.end(answer({ cursor: 41 }));
      else void stopServer(first);
    });
    setTimeout(() => {
      void fixture.serve((request, response) => {
        urls.push(request.url);
        response.end(
          answer({
            done: true,
            reason: "turn-completed",
            cursor: 44,
            woken: [{ ...wake("a"), reason: "turn-completed" }],
          }),
        );
      });
    }, 300);
    const waited = await fixture.client.waitForSession({ session: "a", for: ["turn-completed"], timeout_seconds: 20 });
    expect(waited).toMatchObject({ done: true, reason: "turn-completed", cursor: 44 });
    expect(urls).toHaveLength(3);
    for (const url of urls.slice(1))
      expect(url).toMatch(/^\/v1\/sessions\/a\/wait\?for=turn-completed&timeout_seconds=[\d.]+&since=41$/);
  });

  it("does not wait on when what it waits for cannot come any more", async () => {
    await fixture.serve((_, response) => void response.end(answer({ reason: "turn-failed" })));
    expect(await fixture.client.waitForSession({ session: "a", for: ["turn-completed"] })).toMatchObject({
      done: false,
      reason: "turn-failed",
    });
  });

  it("ends at its own deadline", async () => {
    await fixture.serve((_, response) => void response.end(answer({ cursor: 9 })));
    expect(await fixture.client.waitForSession({ session: "a", timeout_seconds: 0.05 })).toMatchObject({
      done: false,
      reason: "timeout",
      cursor: 9,
    });
  });

  it("says so when the daemon stays away until the deadline", async () => {
    const server = await fixture.serve((_, response) => {
      response.end(answer({}));
      void stopServer(server);
    });
    await expect(fixture.client.waitForSession({ session: "a", timeout_seconds: 0.3 })).rejects.toMatchObject({
      kind: "unavailable",
    });
  });

  it("waiting for all, does not forget those that woke at once", async () => {
    const urls: (string | undefined)[] = [];
    await fixture.serve((request, response) => {
      const url = request.url ?? "";
      urls.push(url);
      if (url.endsWith("/a")) response.end('{"session_id":"id-a"}');
      else if (url.endsWith("/b")) response.end('{"session_id":"id-b"}');
      else if (url.includes("id-b")) response.end(answer({ done: true, reason: "exited", woken: [wake("b")] }));
      else response.end(answer({ woken: [wake("a")] }));
    });
    const waited = await fixture.client.waitForSession({ session: "a", also: ["b"], mode: "all" });
    expect(waited).toMatchObject({ done: true, woken: [wake("a"), wake("b")] });
    // Without the cursor: each of several goes on about what was asked of it.
    expect(urls.at(-1)).toBe("/v1/sessions/id-b/wait?mode=all&timeout_seconds=3600");
  });

  it("waiting for all, is not pleased when one of those that woke at once did not do well", async () => {
    await fixture.serve((request, response) => {
      const url = request.url ?? "";
      if (url.endsWith("/a")) response.end('{"session_id":"id-a"}');
      else if (url.endsWith("/b")) response.end('{"session_id":"id-b"}');
      else if (url.includes("id-b"))
        response.end(answer({ done: true, ok: true, reason: "turn-completed", woken: [wake("b")] }));
      else response.end(answer({ woken: [{ ...wake("a"), ok: false }] }));
    });
    const waited = await fixture.client.waitForSession({ session: "a", also: ["b"], mode: "all" });
    expect(waited).toMatchObject({ done: true, ok: false, reason: "exited" });
  });
});
