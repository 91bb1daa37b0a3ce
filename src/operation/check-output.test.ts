import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { checkOutput } from "./check-output.ts";
import type { Operation } from "./contract.ts";
import { listSessions } from "./list-sessions.ts";

const operation = { ...listSessions, output: z.object({ secret: z.string() }) } as unknown as Operation;

describe("checkOutput", () => {
  it("lets an answer through that is what its operation says, with fields that a later version adds", () => {
    const told: object[] = [];
    checkOutput(operation, { secret: "a", more: 1 }, (_, fields) => void told.push(fields ?? {}));
    expect(told).toEqual([]);
  });

  it("logs where an answer is wrong, without its values, and answers that something is", () => {
    const told: object[] = [];
    const check = (): void => checkOutput(operation, { secret: 7 }, (_, fields) => void told.push(fields ?? {}));
    expect(check).toThrow(expect.objectContaining({ code: "wrong-answer", kind: "internal" }));
    expect(told).toEqual([{ operation: "list_sessions", wrong: ["secret: invalid_type"] }]);
  });
});
