import { expect, test } from "vitest";
import type { TerminalOutput } from "./terminal.ts";
import { createTerminalFeed } from "./terminal-feed.ts";

const size = { columns: 80, rows: 24 };
const snapshot = (text: string) => ({ type: "snapshot", bytes: Buffer.from(text), size }) as const;

function makeFeed(mostBytes = 10) {
  let owed = 0;
  const feed = createTerminalFeed({ mostBytes, onOwed: () => (owed += 1) });
  const pieces = feed.output[Symbol.asyncIterator]();
  const next = async (): Promise<string | null> => {
    const piece = await pieces.next();
    const value = piece.value as TerminalOutput | undefined;
    return value === undefined ? null : `${value.type} ${value.bytes.toString()}`;
  };
  return { feed, next, owed: () => owed };
}

test("a snapshot comes first, asked for when somebody reads, and what came before it is not told again", async () => {
  const { feed, next, owed } = makeFeed();
  feed.push(Buffer.from("early"));
  expect(owed()).toBe(0);
  const first = next();
  expect(owed()).toBe(1);
  feed.push(Buffer.from("in it"));
  feed.show(snapshot("screen"));
  feed.push(Buffer.from("later"));
  expect([await first, await next(), owed()]).toEqual(["snapshot screen", "bytes later", 1]);
});

test("one that is too far behind loses what waits, and is owed the screen once it reads again", async () => {
  const { feed, next, owed } = makeFeed();
  const first = next();
  feed.show(snapshot("one"));
  await first;
  for (let count = 0; count < 100; count++) feed.push(Buffer.from("123456"));
  expect(owed()).toBe(1);
  const second = next();
  await Promise.resolve();
  expect(owed()).toBe(2);
  feed.show(snapshot("two"));
  feed.show(snapshot("not asked for"));
  feed.push(Buffer.from("on"));
  expect([await second, await next()]).toEqual(["snapshot two", "bytes on"]);
});

test("what waits is read to its end, and then it is over", async () => {
  const { feed, next } = makeFeed();
  const first = next();
  feed.show(snapshot("one"));
  feed.push(Buffer.from("last"));
  feed.end();
  feed.push(Buffer.from("too late"));
  expect([await first, await next(), await next()]).toEqual(["snapshot one", "bytes last", null]);
});
