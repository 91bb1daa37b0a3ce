/** What only some sessions need is not loaded by the daemon's start, by the CLI or by the client. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const dist = join(import.meta.dirname, "..", "..", "dist");

/** A file of the bundle and all that it loads before its first line runs. */
function loadedWith(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const text = readFileSync(file, "utf8");
  for (const [, target = ""] of text.matchAll(/(?:from|import|(?<!=>)require\()\s*["'`](\.\/[^"'`]+)["'`]/g))
    loadedWith(join(dirname(file), target), found);
  return found;
}

function holds(name: string, text: string): boolean {
  return readFileSync(join(dist, name), "utf8").includes(text);
}

function speaksWebSocket(file: string): boolean {
  return readFileSync(file, "utf8").includes("Sec-WebSocket-Key");
}

test.each(["daemon.cjs", "daemon-daemon.cjs", "cli.cjs", "client.js"])(
  "%s starts without the WebSocket protocol",
  (name) => {
    expect([...loadedWith(join(dist, name))].filter(speaksWebSocket)).toEqual([]);
  },
);

test("the board is a file of its own, which no other command loads", () => {
  const draws = readdirSync(dist).filter((name) => /^cli.*\.cjs$/.test(name) && holds(name, "?1049h"));
  expect(draws).toEqual(["cli-board.cjs"]);
  const script = "require(process.argv[1]); console.log(Object.keys(require.cache).join())";
  const loaded = execFileSync(process.execPath, ["-e", script, join(dist, "cli.cjs")], { encoding: "utf8" });
  expect(loaded.trim().split(",")).toContain(join(dist, "cli.cjs"));
  expect(loaded).not.toContain("board");
});

test("it is in files of its own, for the daemon, Codex's bootstrap and the scripted model, and finds no helper of others", () => {
  const files = readdirSync(dist).filter((name) => /\.c?js$/.test(name));
  expect(files.filter((name) => speaksWebSocket(join(dist, name)))).toEqual([
    "codex-bootstrap-websocket.js",
    "daemon-websocket.cjs",
    "scripted-model-responses-socket.js",
  ]);
  const helpers = /["'`](?:bufferutil|utf-8-validate)["'`]/;
  expect(files.filter((name) => helpers.test(readFileSync(join(dist, name), "utf8")))).toEqual([]);
});

test("the SDK of MCP is loaded by reeve mcp and by the first request to /mcp alone", () => {
  const isSdk = (file: string): boolean =>
    readFileSync(file, "utf8").includes("notifications/subscriptions/acknowledged");
  for (const name of ["daemon.cjs", "daemon-daemon.cjs", "cli.cjs", "client.js"]) {
    const lazy = (file: string): boolean => /-(?:mcp|stdio)\.c?js$/.test(file);
    expect([...loadedWith(join(dist, name))].filter((file) => isSdk(file) && !lazy(file))).toEqual([]);
  }
  const files = readdirSync(dist).filter((name) => /\.c?js$/.test(name) && isSdk(join(dist, name)));
  expect(files).toEqual(["cli-stdio.cjs", "daemon-mcp.cjs"]);
  // One runs for each agent: no operation, and no validator of JSON schemas.
  for (const text of ["recorded; the session is listed from then on", "strictTuples"])
    expect([text, holds("cli-stdio.cjs", text)]).toEqual([text, false]);
});

test("what is built imports nothing of Node's whole, and has no character that doubles its size in memory", () => {
  const files = readdirSync(dist).filter((name) => /\.c?js$/.test(name) && !name.startsWith("client"));
  const texts = files.map((name) => [name, readFileSync(join(dist, name), "utf8")] as const);
  expect(texts.filter(([, text]) => /\bimport[^;()]*from\s*["']node:/.test(text)).map(([name]) => name)).toEqual([]);
  expect(texts.filter(([, text]) => /[^\0-\x7f]/.test(text)).map(([name]) => name)).toEqual([]);
});

test("the CLI loads neither OpenSSL nor readline before it needs them", () => {
  const script = "require(process.argv[1]); console.log(process.moduleLoadList.join())";
  const loaded = execFileSync(process.execPath, ["-e", script, join(dist, "cli.cjs")], { encoding: "utf8" });
  expect(loaded).toContain("NativeModule net");
  expect(loaded.match(/NativeModule (?:crypto|readline\/promises)\b/g)).toBe(null);
});
