/** The capture proxy leads to a session's own upstreams, and for nobody anywhere else. */
import { once } from "node:events";
import { statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { newRouteKey } from "../../src/capture/proxy/route-key.ts";
import { isExempt } from "../../src/capture/proxy/upstream.ts";
import { ask, startTestProxy, startUpstream, type TestProxy, type TestUpstream } from "./proxy-fixture.ts";

let proxy: TestProxy;
let upstream: TestUpstream;
let reached = 0;

beforeAll(async () => {
  proxy = await startTestProxy();
  upstream = await startUpstream((request, response) => {
    reached += 1;
    response.end(request.url);
  });
});
afterAll(async () => {
  await proxy.dispose();
  await upstream.close();
});

async function refused(address: string, headers: Record<string, string> = {}): Promise<[number, string]> {
  const before = reached;
  const { status, body } = await ask(address, { headers });
  expect(reached).toBe(before);
  return [status, (JSON.parse(body.toString()) as { error: { code: string } }).error.code];
}

test("a key leads to its own session's upstreams only; one that nobody has leads nowhere", async () => {
  const mine = await proxy.route({ mine: upstream.url });
  const other = await proxy.route({ other: upstream.url }, { sessionId: "s-2" });
  expect((await ask(`${proxy.address(mine, "mine")}/x`)).body.toString()).toBe("/x");
  expect(await refused(`${proxy.address(other, "mine")}/x`)).toEqual([404, "unknown-upstream"]);
  expect(await refused(`${proxy.address(mine, "https:%2F%2Felsewhere")}/x`)).toEqual([404, "unknown-upstream"]);
  expect(await refused(`http://127.0.0.1:${proxy.port}/${newRouteKey()}/mine/x`)).toEqual([404, "unknown-route"]);
  for (const path of ["/", "//", "/mine", "/__proto__/mine", "/constructor/x"])
    expect(await refused(`http://127.0.0.1:${proxy.port}${path}`)).toEqual([404, "unknown-route"]);
  expect(await refused(`${proxy.address(mine, "__proto__")}/x`)).toEqual([404, "unknown-upstream"]);
  await proxy.control.unregister(mine.key);
  expect(await refused(`${proxy.address(mine, "mine")}/x`)).toEqual([404, "unknown-route"]);
});

test("a foreign host, an address of somewhere else and CONNECT are refused", async () => {
  const route = await proxy.route({ api: upstream.url });
  expect(await refused(`${proxy.address(route)}/x`, { host: "rebound.example" })).toEqual([403, "wrong-host"]);
  expect(await refused(`${proxy.address(route)}/x`, { host: `127.0.0.1:${proxy.port + 1}` })).toEqual([
    403,
    "wrong-host",
  ]);
  expect((await ask(`${proxy.address(route)}/x`, { headers: { host: `localhost:${proxy.port}` } })).status).toBe(200);
  const host = `Host: 127.0.0.1:${proxy.port}`;
  expect(await spoken(`GET ${upstream.url}/x HTTP/1.1\r\n${host}\r\n\r\n`)).toMatch(/^HTTP\/1.1 400 .*not-a-path/s);
  expect(await spoken(`CONNECT 127.0.0.1:${upstream.port} HTTP/1.1\r\n${host}\r\n\r\n`)).toMatch(/^HTTP\/1.1 400 /);
  const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
  expect(await spoken(`GET /nobody/api/x HTTP/1.1\r\n${host}\r\n${upgrade}\r\n`)).toMatch(/^HTTP\/1.1 404 /);
});

async function spoken(text: string): Promise<string> {
  const before = reached;
  const socket = connect(proxy.port, "127.0.0.1");
  socket.end(text);
  let answer = "";
  socket.on("data", (bytes: Buffer) => (answer += bytes.toString()));
  await once(socket, "close");
  expect(reached).toBe(before);
  return answer;
}

test.each([
  ["a base URL that is none", { upstreams: { api: "not a url" } }, /not a url is not an http/],
  ["another scheme", { upstreams: { api: "file:///etc/passwd" } }, /not an http/],
  ["a query", { upstreams: { api: "https://x.example/?a=b" } }, /query/],
  ["a name with a slash", { upstreams: { "a/b": "https://x.example" } }, /no name/],
  ["a key that could be guessed", { key: "short" }, /32 random bytes/],
  ["a relative directory", { directory: "here" }, /absolute/],
])("%s is refused when the route is registered", async (_what, more, message) => {
  await expect(proxy.route({ api: upstream.url }, more)).rejects.toThrow(message);
});

test("the control socket is the user's alone, and what is no command is answered", async () => {
  const path = join(proxy.root, "control.sock");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const socket = connect(path);
  socket.write("nonsense\n{}\n");
  let text = "";
  socket.on("data", (bytes: Buffer) => {
    text += bytes.toString();
    if (text.split("\n").length === 3) socket.end();
  });
  await once(socket, "close");
  expect(text).toMatch(/command-unreadable.*\n.*unknown-command/);
});

test("limits that a response tells of are observed", async () => {
  const limited = await startUpstream((_request, response) => {
    response.writeHead(429, { "Retry-After": "7", "X-Vendor-Used-Percent": "99", "X-Other": "1" }).end();
  });
  const route = await proxy.route({ api: limited.url }, { limitHeaders: ["x-vendor-*"] });
  await ask(`${proxy.address(route)}/x`);
  const observed = await eventually("it is observed", () =>
    proxy.observed.find(({ observed }) => observed === "limits"),
  );
  expect(observed).toMatchObject({
    observed: "limits",
    sessionId: "s-1",
    upstream: "api",
    status: 429,
    headers: [
      ["retry-after", "7"],
      ["x-vendor-used-percent", "99"],
    ],
  });
  await limited.close();
});

test.each([
  ["*", true],
  ["api.example.com", true],
  ["example.com", true],
  [".example.com", true],
  ["*.example.com", true],
  ["other.com, Example.COM", true],
  ["example.com:443", true],
  ["example.com:8443", false],
  ["ple.com", false],
  ["", false],
])("NO_PROXY=%s", (noProxy, isDirect) => {
  expect(isExempt("api.example.com", 443, noProxy)).toBe(isDirect);
});
