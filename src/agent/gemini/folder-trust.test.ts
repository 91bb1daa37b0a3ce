/** Where Gemini CLI asks about trust, a prompt of its command line is run too early. */
import { expect, test } from "vitest";
import { isTrustDecided } from "./folder-trust.ts";

const decided = (folders: object | null, settings: string | null = null, args: readonly string[] = []): boolean =>
  isTrustDecided("/work/app", args, { folders: folders === null ? null : JSON.stringify(folders), settings });

test.each([
  ["the folder itself", { "/work/app": "TRUST_FOLDER" }],
  ["one above it", { "/work": "TRUST_FOLDER" }],
  ["the root", { "/": "TRUST_FOLDER" }],
  ["the parent of one beside it", { "/work/other": "TRUST_PARENT" }],
  ["a refusal", { "/work/app": "DO_NOT_TRUST" }],
])("decided by %s", (_what, folders) => {
  expect(decided(folders)).toBe(true);
});

test.each([
  ["nothing", null],
  ["one below it", { "/work/app/src": "TRUST_FOLDER" }],
  ["one with the same beginning", { "/work/ap": "TRUST_FOLDER" }],
  ["the parent of one below it elsewhere", { "/other/app/src": "TRUST_PARENT" }],
  ["a level that is not known", { "/work/app": "TRUST_MAYBE" }],
])("not decided by %s", (_what, folders) => {
  expect(decided(folders)).toBe(false);
});

test("decided by settings and arguments, and not by what cannot be read", () => {
  expect(decided(null, '{ "security": { "folderTrust": { "enabled": false } } } // off')).toBe(true);
  expect(decided(null, '{ "security": { "folderTrust": { "enabled": true } } }')).toBe(false);
  expect(decided(null, null, ["--skip-trust"])).toBe(true);
  expect(isTrustDecided("/work/app", [], { folders: "{ not JSON", settings: "nor this" })).toBe(false);
});
