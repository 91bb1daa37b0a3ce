import * as fc from "fast-check";
import { expect, test } from "vitest";
import { nativeIdOf } from "./native-id.ts";

test("the id of a session never changes: conversations on disk are found by it", () => {
  expect(nativeIdOf("01kx-a")).toBe("964860d6-df8e-4f31-82cc-056c0f22cfd2");
});

test("every id is a UUID of version 4", () => {
  fc.assert(
    fc.property(fc.string(), (sessionId) => {
      expect(nativeIdOf(sessionId)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }),
  );
});

test("ids of neighbouring sessions share no beginning", () => {
  const beginnings = Array.from({ length: 2000 }, (_, index) => nativeIdOf(`01kx-${index}`).slice(0, 8));
  expect(new Set(beginnings).size).toBe(2000);
});
