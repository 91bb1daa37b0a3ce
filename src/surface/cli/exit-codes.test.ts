import { expect, test } from "vitest";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { ErrorKind } from "../../platform/reeve-error.ts";
import { WAKE_REASONS } from "../../session/wake.ts";
import { EXIT_CODES, statusOfWait, WAIT_STATUS } from "./exit-codes.ts";

const KINDS = {
  usage: true,
  "not-found": true,
  "no-such-path": true,
  "wrong-method": true,
  conflict: true,
  forbidden: true,
  unavailable: true,
  config: true,
  "too-large": true,
  internal: true,
} as const satisfies Record<ErrorKind, true>;

test("every status that an error or a wait can end with stands in the table, once", () => {
  const codes = EXIT_CODES.map(({ code }) => code);
  expect(codes).toEqual([...new Set(codes)].toSorted((a, b) => a - b));
  const errors = Object.keys(KINDS).map(
    (kind) => new ReeveError({ code: "x", kind: kind as ErrorKind, message: "x" }).exitStatus,
  );
  for (const status of [...errors, ...Object.values(WAIT_STATUS)]) expect(codes).toContain(status);
});

test("each reason has a code of its own, and none of them is 0 unless it went well", () => {
  const reasons = [...WAKE_REASONS, "nothing-to-wait-for", "timeout"] as const;
  const statuses = reasons.map((reason) => statusOfWait({ ok: false, reason }));
  expect(new Set([0, 1, 2, ...statuses]).size).toBe(reasons.length + 3);
  for (const reason of reasons) expect(statusOfWait({ ok: true, reason })).toBe(0);
});
