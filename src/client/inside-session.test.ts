/** As whom a program calls, by what its environment tells. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Home, locateHome } from "../platform/home.ts";
import { callerIn } from "./inside-session.ts";

let directory = "";
let own: Home;
let other: Home;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-inside-"));
  const make = (name: string): Home => {
    const home = locateHome({ REEVE_HOME: join(directory, name) });
    mkdirSync(home.runDir, { recursive: true });
    writeFileSync(home.instancePath, `${name}\n`);
    writeFileSync(home.sessionSocketPath, "");
    return home;
  };
  own = make("own");
  other = make("other");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const inside = () => ({
  REEVE_PASS: "secret",
  REEVE_SOCKET: own.sessionSocketPath,
  REEVE_SESSION_ID: "a1",
  REEVE_MARK: "own.a1.1",
});
const marked = { REEVE_MARK: "own.a1.1" };

test("a program in a session calls as that session, whether or not its home is named", () => {
  const asSession = { socketPath: own.sessionSocketPath, pass: "secret" };
  expect(callerIn(inside(), own, true)).toEqual(asSession);
  // Its XDG directories may be others: only a home that is named tells what is meant.
  expect(callerIn(inside(), other, false)).toEqual(asSession);
  symlinkSync(own.stateDir, join(directory, "link"));
  expect(callerIn(inside(), locateHome({ REEVE_HOME: join(directory, "link") }), true)).toEqual(asSession);
});

test("another home that is named is never taken for the session's own; it can be meant, though", () => {
  expect(() => callerIn(inside(), other, true)).toThrow(
    expect.objectContaining({
      code: "other-home",
      message: expect.stringContaining(other.stateDir) as string,
    }) as Error,
  );
  const nowhere = locateHome({ REEVE_HOME: join(directory, "nowhere") });
  expect(() => callerIn(inside(), nowhere, true)).toThrow(/unset REEVE_PASS, REEVE_SOCKET and REEVE_SESSION_ID/);
  expect(callerIn(marked, other, true)).toEqual({ socketPath: other.socketPath });
  expect(callerIn(marked, nowhere, true)).toEqual({ socketPath: nowhere.socketPath });
});

test("what belongs to a session is not its operator, whatever it leaves out", () => {
  const { REEVE_PASS: _pass, ...withoutPass } = inside();
  for (const environment of [withoutPass, { REEVE_SESSION_ID: "a1" }, marked])
    for (const isNamed of [true, false])
      expect(() => callerIn(environment, own, isNamed)).toThrow(/^This runs in session a1, but/);
  expect(callerIn({}, own, false)).toEqual({ socketPath: own.socketPath });
});
