/** One loss of a runtime is one event, however it is noticed. */
import { describe, expect, test } from "vitest";
import type { Moment } from "../platform/clock.ts";
import { NO_RESTARTS, type RestartRecord } from "./restart-record.ts";
import { afterLook, isLostWith, lossIn } from "./runtime-loss.ts";
import { plannedSession } from "./session-fixture.ts";
import type { Session } from "./session.ts";

const at = (upMs: number, boot = "one"): Moment => ({ at: upMs, boot, upMs });
const session = (restart: Partial<RestartRecord>, isDead = false): Session =>
  plannedSession({
    process: {
      restart: { ...NO_RESTARTS, ...restart },
      exit: isDead ? { code: null, signal: null, at: 0 } : null,
    },
  });
const lost = (upMs: number): Session => session({ cause: "shared", running: at(1), ended: at(upMs) }, true);
const empty = { isEmpty: true, gone: 5 };

describe("the loss of a runtime", () => {
  test("is told when several are gone and none is there", () => {
    expect(afterLook(null, empty, at(10))).toEqual({ loss: { noticed: at(10), isOver: false }, isNew: true });
    expect(afterLook(null, { isEmpty: true, gone: 1 }, at(10))).toEqual({ loss: null, isNew: false });
    expect(afterLook(null, { isEmpty: false, gone: 5 }, at(10))).toEqual({ loss: null, isNew: false });
  });

  test("is one until something runs there again", () => {
    const { loss } = afterLook(null, empty, at(10));
    expect(afterLook(loss, empty, at(11))).toEqual({ loss, isNew: false });
    const over = afterLook(loss, { isEmpty: false, gone: 0 }, at(12)).loss;
    expect(over).toEqual({ noticed: at(10), isOver: true });
    expect(afterLook(over, empty, at(20))).toEqual({ loss: { noticed: at(20), isOver: false }, isNew: true });
  });

  test("explains what is noticed later and ran before it, and nothing that was started since", () => {
    const loss = { noticed: at(10), isOver: true };
    expect(isLostWith(loss, session({ running: at(9) }), at(30))).toBe(true);
    expect(isLostWith(loss, session({ running: null }), at(30))).toBe(true);
    expect(isLostWith(loss, session({ running: at(11) }), at(30))).toBe(false);
    expect(isLostWith({ ...loss, isOver: false }, session({ running: at(11) }), at(30))).toBe(true);
    expect(isLostWith(null, session({ running: at(9) }), at(30))).toBe(false);
  });

  test("in the middle of which a daemon died is known to the next one by its records", () => {
    expect(lossIn([lost(10), session({ running: at(1) })], at(20))).toEqual({ noticed: at(10), isOver: false });
    expect(lossIn([lost(10), lost(8), session({ running: at(15) })], at(20))).toEqual({
      noticed: at(10),
      isOver: true,
    });
    expect(lossIn([session({ running: at(1), ended: at(9) }, true)], at(20))).toBeNull();
  });
});
