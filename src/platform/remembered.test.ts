import { expect, test } from "vitest";
import { remembered } from "./remembered.ts";

test("makes one thing of one object, and forgets the oldest", () => {
  const asked: object[] = [];
  const made = remembered(2, (key: object) => {
    asked.push(key);
    return { key };
  });
  const [a, b, c] = [{}, {}, {}];
  expect(made(a)).toBe(made(a));
  made(b);
  made(c);
  expect(made(c)).toBe(made(c));
  expect(made(a)).toEqual({ key: a });
  expect(asked).toEqual([a, b, c, a]);
});
