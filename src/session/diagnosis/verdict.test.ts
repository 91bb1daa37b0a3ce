import { describe, expect, test } from "vitest";
import type { ProbeOutcome, ProbeRequest } from "../../platform/probe.ts";
import { type Tried, verdictOf } from "./verdict.ts";

const reached: ProbeOutcome = { status: "reached", code: null, text: "it answers" };
const failed = (code: string): ProbeOutcome => ({ status: "failed", code, text: code });
const untried: ProbeOutcome = { status: "untried", code: null, text: "the session does not run" };
const http: ProbeRequest = { kind: "http", url: "http://127.0.0.1:8000", wants: "found" };
const here = { netNamespace: "net:[1]", isFiltered: false };
const apart = { netNamespace: "net:[2]", isFiltered: true };
const filtered = { netNamespace: "net:[1]", isFiltered: true };

const verdict = (changes: Partial<Tried>): readonly [string, string | null] => {
  const tried: Tried = {
    what: "chroma",
    request: http,
    native: reached,
    session: reached,
    escalated: null,
    grounds: { native: here, session: here, isBoxed: false, missingVariables: [] },
    ...changes,
  };
  const { verdict: word, mechanism } = verdictOf(tried);
  return [word, mechanism];
};
const grounds = (session: typeof here | null, missingVariables: readonly string[] = []): Tried["grounds"] => ({
  native: here,
  session,
  isBoxed: false,
  missingVariables,
});

describe("a service that only the sandbox hides is never called down", () => {
  test.each<[string, Partial<Tried>, string]>([
    ["network namespace", { grounds: grounds(apart) }, "EPERM"],
    ["seccomp", { grounds: grounds(filtered) }, "EPERM"],
    ["seccomp", { grounds: grounds(apart), request: { kind: "socket", path: "/run/reeve.sock" } }, "EPERM"],
    ["missing mount", { grounds: grounds(apart), request: { kind: "socket", path: "/run/reeve.sock" } }, "ENOENT"],
    ["read-only mount", { grounds: grounds(apart), request: { kind: "write", path: "/work" } }, "EROFS"],
    ["missing variable GH_TOKEN", { grounds: grounds(here, ["GH_TOKEN"]) }, "exit 4"],
  ])("%s", (mechanism, changes, code) => {
    for (const escalated of [reached, null])
      expect(verdict({ ...changes, session: failed(code), escalated })).toEqual(["sandbox-artefact", mechanism]);
  });

  test("although Reeve itself does not reach it either", () => {
    expect(
      verdict({
        native: failed("ECONNREFUSED"),
        session: failed("EPERM"),
        escalated: reached,
        grounds: grounds(apart),
      }),
    ).toEqual(["sandbox-artefact", "network namespace"]);
  });

  test("nor if nobody could try it without the sandbox", () => {
    const word = verdict({ native: failed("ECONNREFUSED"), session: failed("EPERM"), grounds: grounds(apart) });
    expect(word).toEqual(["unknown", null]);
  });
});

test("down is what fails here and, without the sandbox, there", () => {
  const all = { native: failed("ECONNREFUSED"), session: failed("EPERM"), escalated: failed("ECONNREFUSED") };
  expect(verdict({ ...all, grounds: grounds(apart) })).toEqual(["down", null]);
  expect(verdict({ native: failed("timeout"), session: null })).toEqual(["down", null]);
});

test("what answers otherwise than asked is misconfigured", () => {
  const other = failed("http 404");
  expect(verdict({ native: other, session: other, escalated: other })).toEqual(["misconfigured", null]);
});

test("a native route that alone is broken is said to be", () => {
  expect(verdict({ native: failed("ECONNREFUSED") })).toEqual(["misconfigured", "the native route"]);
});

test("the session's environment is named where nothing of a sandbox explains it", () => {
  expect(verdict({ session: failed("ENOTFOUND"), escalated: failed("ENOTFOUND") })).toEqual([
    "misconfigured",
    "the session's environment",
  ]);
});

test.each([reached, failed("ECONNREFUSED")])("without a look from inside nothing is concluded: %j", (native) => {
  expect(verdict({ native, session: untried, grounds: grounds(null) })).toEqual(["unknown", null]);
});

test("both routes reach it", () => expect(verdict({})).toEqual(["healthy", null]));

test("what only the session reaches is healthy on the loopback of its container, and else a matter of the native route", () => {
  const native = failed("ECONNREFUSED");
  const boxed = { ...grounds(apart), isBoxed: true };
  const elsewhere: ProbeRequest = { kind: "tcp", host: "db.example", port: 5432 };
  expect(verdict({ native, grounds: boxed })).toEqual(["healthy", null]);
  for (const changes of [
    { grounds: { ...boxed, session: here } },
    { grounds: grounds(apart) },
    { grounds: boxed, request: elsewhere },
  ])
    expect(verdict({ native, ...changes })).toEqual(["misconfigured", "the native route"]);
});
