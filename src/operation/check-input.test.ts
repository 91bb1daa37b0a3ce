/** Nothing in an input is ignored, and a refusal names the field and the value. */
import { expect, test } from "vitest";
import * as z from "zod/mini";
import { ReeveError } from "../platform/reeve-error.ts";
import { answerApproval } from "./answer-approval.ts";
import { checkInput } from "./check-input.ts";
import type { Operation } from "./contract.ts";
import { daemonStatus } from "./daemon-status.ts";
import { getAttachCommand } from "./get-attach-command.ts";
import { getSessionData } from "./get-session-data.ts";
import { listSessions } from "./list-sessions.ts";
import { operations } from "./operations.ts";
import { readEvents } from "./read-events.ts";
import { sendMessage } from "./send-message.ts";
import { startSession } from "./start-session.ts";
import { waitForSession } from "./wait-for-session.ts";

function refusal(operation: Operation, given: unknown): ReeveError {
  try {
    checkInput(operation, given);
  } catch (error) {
    if (error instanceof ReeveError) return error;
    throw error;
  }
  throw new Error("it was taken");
}

const start = { agent: "command", cwd: "/" };

test.each<[object, string, object]>([
  [
    { timeouts: { turnn: "30m" } },
    'timeouts of start_session has no field "turnn"; did you mean turn?',
    { field: "timeouts.turnn", nearest: "turn" },
  ],
  [
    { timeouts: { turn: { after: "30m", than: "end" } } },
    'timeouts.turn of start_session has no field "than"; did you mean then?',
    { field: "timeouts.turn.than", nearest: "then", known: ["after", "then"] },
  ],
  [
    { timeouts: { xyzzy: 1 } },
    'timeouts of start_session has no field "xyzzy"; its fields are start, turn, idle, approval, stop_grace, age.',
    { field: "timeouts.xyzzy", nearest: null },
  ],
  [
    { manifest: { file: "/m", id: "a", order: 0, spec: { any: 1 }, fil: "x" } },
    'manifest of start_session has no field "fil"; did you mean file?',
    { field: "manifest.fil" },
  ],
])("an unknown field inside of a field is refused, too: %j", (fields, message, details) => {
  expect(refusal(startSession, { ...start, ...fields })).toMatchObject({ code: "unknown-field", message, details });
});

test("what is known inside of a field is taken, and names that the caller chooses are free", () => {
  // oxlint-disable-next-line unicorn/no-thenable -- the field has this name; nobody awaits it
  const given = { ...start, timeouts: { turn: { after: "30m", then: "end" }, idle: 5, age: "off" }, env: { A: "b" } };
  expect(checkInput(startSession, given)).toMatchObject(given);
});

test.each<[Operation, object, string]>([
  [getSessionData, { session: "x", tail: 3.5 }, "tail must be a whole number of bytes, not 3.5."],
  [getSessionData, { session: "x", tail: "many" }, 'tail must be a whole number of bytes, not "many".'],
  [getSessionData, { session: "x", tail: 0 }, "tail must be a whole number of bytes from 1 to 49152, not 0."],
  [getSessionData, { session: "x", tail: ["1", "2"] }, 'tail must be a whole number of bytes, not ["1","2"].'],
  [getSessionData, { session: "x", source: "pane" }, 'source must be transcript or screen, not "pane".'],
  [readEvents, { since: -1 }, "since must be a whole number, 0 or more, not -1."],
  [readEvents, { since: 1e300 }, "since must be a whole number, 0 or more, not 1e+300."],
  [readEvents, { limit: 5_000 }, "limit must be a whole number of events from 1 to 1000, not 5000."],
  [
    waitForSession,
    { session: "x", timeout_seconds: 4e3 },
    "timeout_seconds must be a number of seconds from 0 to 3600, not 4000.",
  ],
  [waitForSession, { session: "x", for: "exited" }, 'for must be a list, not "exited".'],
  [
    waitForSession,
    { session: "x", for: ["exited", "gone"] },
    'for[1] must be turn-completed, turn-failed, turn-interrupted, awaiting-approval, awaiting-input, exited or stalled, not "gone".',
  ],
  [listSessions, { all: "yes" }, 'all must be true or false, not "yes".'],
  [answerApproval, { session: "x" }, "decision is missing; it must be approved or denied."],
  [
    answerApproval,
    { session: "x", decision: "approved", approval_id: "" },
    'approval_id must be text of 1 to 200 characters, not "".',
  ],
  [sendMessage, { session: "x", text: "" }, 'text must be some text, not "".'],
  [
    sendMessage,
    { session: "../x", text: "a" },
    'session must be made of lower-case letters, digits and dashes, at most 64, not "../x".',
  ],
  [startSession, { ...start, cwd: 7 }, "cwd must be text, not 7."],
  [startSession, { ...start, args: ["a", 7] }, "args[1] must be text, not 7."],
  [startSession, { ...start, cwd: "/\0" }, 'cwd must be text without a NUL character, not "/\\u0000".'],
  [
    startSession,
    { ...start, name: "pay\u202eload" },
    'name must be made of lower-case letters, digits and dashes, at most 64, not "pay<U+202E>load".',
  ],
  [getAttachCommand, { session: "x", taken: ["; rm"] }, 'taken[0] must be KEY=KEYS, such as C-b=C-b C-b, not "; rm".'],
])("a value that is not right is refused with what it must be: %#", (operation, given, sentence) => {
  expect(refusal(operation, given)).toMatchObject({ code: "bad-request", kind: "usage", message: sentence });
});

test.each<[object, string]>([
  [{ env: { TOKEN: 5_551_234 } }, "env.TOKEN must be text; what was given is not shown."],
  [{ env: ["TOKEN=s3cret-value"] }, "env must be an object; what was given is not shown."],
  [{ env: { "A-B": "s3cret-value" } }, '"A-B" in env must be the name of a variable: letters, digits and underscores.'],
  [
    { environment: { TOKEN: "s3cret-value\0" } },
    "environment.TOKEN must be text without a NUL character; what was given is not shown.",
  ],
])("a value that may be a secret is never quoted: %j", (given, sentence) => {
  const { message, details } = refusal(startSession, { ...start, ...given });
  expect(message).toBe(sentence);
  expect(JSON.stringify([message, details])).not.toMatch(/s3cret|5551234/);
});

test.each<[Operation, object, string, string | null]>([
  [getSessionData, { session: "x", tial: 5 }, 'get_session_data has no field "tial"; did you mean tail?', "tail"],
  [
    startSession,
    { ...start, enviroment: {} },
    'start_session has no field "enviroment"; did you mean environment?',
    "environment",
  ],
  [readEvents, { after: 5 }, 'read_events has no field "after"; its fields are since, limit, session.', null],
  [daemonStatus, { verbose: true }, 'daemon_status has no field "verbose"; it takes no fields.', null],
  [
    daemonStatus,
    JSON.parse('{"__proto__":1}') as object,
    'daemon_status has no field "__proto__"; it takes no fields.',
    null,
  ],
])("a field that is not known is refused with the nearest, or with all: %#", (operation, given, sentence, nearest) => {
  expect(refusal(operation, given)).toMatchObject({ code: "unknown-field", message: sentence, details: { nearest } });
});

test("a refusal has our words, also where a library brought zod's own for the whole process", () => {
  const before = z.config().localeError;
  z.config({ localeError: () => "Invalid option: expected something" });
  try {
    const { message } = refusal(answerApproval, { session: "x", decision: "yes" });
    expect(message).toBe('decision must be approved or denied, not "yes".');
  } finally {
    z.config({ localeError: before });
  }
});

test("a refusal is short, whatever was sent", () => {
  const nested: unknown = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
  expect(refusal(startSession, { ...start, args: nested }).message).toBe(
    `args[0] must be text, not ${"[".repeat(60)}….`,
  );
  const long = "x".repeat(1_000_000);
  expect(refusal(getSessionData, { session: long }).message.length).toBeLessThan(300);
  expect(refusal(getSessionData, { session: "x", [long]: 1 }).message.length).toBeLessThan(300);
  expect(JSON.stringify(refusal(getSessionData, { session: "x", [long]: 1 }).details).length).toBeLessThan(500);
  expect(refusal(startSession, { ...start, env: { [long]: 5 } }).message.length).toBeLessThan(300);
});

test.each(operations.map((operation): [string, Operation] => [operation.name, operation]))(
  "the example of %s is one",
  (_name, operation) => {
    expect(checkInput(operation, operation.example)).toMatchObject(operation.example);
  },
);
