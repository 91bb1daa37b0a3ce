/** Type, check, defaults and initial values of a session follow from one schema. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { amend } from "./amend.ts";
import { read, run, runningSession } from "./run-inputs.ts";
import { anyInput, plannedSession } from "./session-fixture.ts";
import { completed, isSession } from "./session-record.ts";
import { SECTIONS, SESSION } from "./session.ts";
import { added, begin, count, later, listOf, object, orNull, recordOf, starts, text } from "./shape.ts";

const session = plannedSession();
const sections = Object.entries(SECTIONS).map(([section, { fields: known }]) => ({
  section: section as keyof typeof SECTIONS,
  known,
}));
const fields = sections.flatMap(({ section, known }) =>
  Object.entries(known).map(([name, field]) => ({ section, name, field })),
);
const fieldsOf = (table: object): readonly string[] => Object.keys(table).toSorted();

function without(section: keyof typeof SECTIONS, name: string): object {
  const { [name]: _gone, ...rest } = session[section] as Readonly<Record<string, unknown>>;
  return { ...session, [section]: rest };
}

describe("each field of a session", () => {
  test.each(fields)("$section.$name has a check", ({ section, name }) => {
    const spoilt = { ...session, [section]: { ...session[section], [name]: Symbol("none of ours") } };
    expect([isSession(session), isSession(spoilt), isSession(without(section, name))]).toEqual([true, false, false]);
  });

  test.each(fields)("$section.$name has its default in a record without it, or the record is none", (of) => {
    const read = completed(without(of.section, of.name));
    if (!("missing" in of.field)) return expect(isSession(read)).toBe(false);
    expect(isSession(read)).toBe(true);
    expect(read).toEqual({ ...session, [of.section]: { ...session[of.section], [of.name]: of.field.missing } });
  });

  test.each(["id", "revision", "state", "reason", "identity", "wish"] as const)("%s must be there", (name) => {
    const { [name]: _gone, ...rest } = session;
    expect(isSession(completed(rest))).toBe(false);
  });

  test("is in no two sections: that is how a flat record of an earlier version is read", () => {
    const names = [...Object.keys(SESSION.fields), ...fields.map(({ name }) => name)];
    expect(names).toEqual([...new Set(names)]);
  });
});

test("whatever happens to a session, its record has the fields of the schema and no others", () => {
  fc.assert(
    fc.property(fc.array(anyInput(), { maxLength: 30 }), (inputs) => {
      const { session: after } = run(runningSession(), ...inputs);
      expect(isSession(after)).toBe(true);
      expect(fieldsOf(after)).toEqual(fieldsOf(SESSION.fields));
      for (const { section, known } of sections) expect(fieldsOf(after[section])).toEqual(fieldsOf(known));
    }),
  );
});

test("a turn that had stalled goes on: that is in its section, too", () => {
  const stalled = runningSession({ conversation: { stalledAt: 5, turnOpen: true } });
  const { session: after } = run(stalled, read({ detail: "a tool was used" }));
  const { revision } = stalled;
  const { timeouts } = after;
  expect(after).toEqual(amend(stalled, { revision: revision + 1, timeouts, conversation: { stalledAt: null } }));
});

test("a field that this version does not know is let through", () => {
  const newer = { ...session, fate: 1, watch: { ...session.watch, fate: 2 } };
  expect(isSession(newer)).toBe(true);
  expect(completed(newer)).toBe(newer);
});

describe("a field that is added", () => {
  const before = object({ name: text });
  const now = object({
    ...before.fields,
    size: added(count, 3),
    parts: listOf(object({ id: text, tags: later(recordOf(text), {}) })),
    note: starts(orNull(text), null),
  });
  const old = { name: "a", parts: [{ id: "p" }, { id: "q", tags: { x: "y" } }], note: "n" };

  test("is in a new record, and in what an earlier version wrote, there at the end", () => {
    expect(begin(now, { name: "a", parts: [] })).toEqual({ name: "a", size: 3, parts: [], note: null });
    const read = now.complete?.(old);
    expect([now.is(old), now.is(read)]).toEqual([false, true]);
    expect(JSON.stringify(read)).toBe(
      '{"name":"a","parts":[{"id":"p","tags":{}},{"id":"q","tags":{"x":"y"}}],"note":"n","size":3}',
    );
  });

  test("does not change a record that has it, and not the one that was read", () => {
    const whole = { name: "a", size: 9, parts: [], note: null };
    expect(now.complete?.(whole)).toBe(whole);
    now.complete?.(old);
    expect(Object.keys(old)).toEqual(["name", "parts", "note"]);
  });

  test("is not made up for what is no such record", () => {
    for (const value of [null, 3, "x", [], {}, { parts: null }]) expect(now.is(now.complete?.(value))).toBe(false);
  });
});

test("a record from before there were wakes is read with a cursor at the beginning", () => {
  const { wakes, ...before } = plannedSession();
  const read = completed(before);
  expect([isSession(before), isSession(read)]).toEqual([false, true]);
  expect(read).toEqual({ ...before, wakes });
});
