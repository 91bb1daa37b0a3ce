/** Issue 7, 19: which values of an environment are secret. */
import { expect, test } from "vitest";
import { secretsIn } from "./secret-values.ts";

const refs = (environment: Readonly<Record<string, string>>, ...given: readonly string[]): readonly string[] =>
  secretsIn(environment, given).map(({ ref }) => ref);

test("issue 7, 19: what is given on purpose is secret from four characters on, whatever its name", () => {
  expect(refs({ PIN: "h7x2", X: "abc", COLOUR: "bluish" }, "PIN", "X", "COLOUR")).toEqual(["PIN", "COLOUR"]);
  expect(refs({ DEBUG: "true", NODE_ENV: "production" }, "DEBUG", "NODE_ENV")).toEqual([]);
});

test("issue 7, 19: what is named like a secret is one, the shell's own variables are not", () => {
  const named = {
    GITHUB_PAT: "abcdef",
    BASIC_AUTH: "abcdef",
    SESSION_COOKIE: "abcdef",
    MY_PASS: "abcdef",
    SENTRY_DSN: "abcdef",
  };
  expect(refs(named)).toEqual(Object.keys(named));
  expect(refs({ PWD: "/home/user", SSH_AUTH_SOCK: "/tmp/agent", PATH: "/usr/bin", API_KEY: "short" })).toEqual([]);
});

test("issue 7, 19: passwords in URLs and connection strings are, also as a program decodes them", () => {
  expect(secretsIn({ DATABASE_URL: "postgres://app:p%40ssw0rd@db:5432/x" }, [])).toEqual([
    { ref: "DATABASE_URL#1", value: "p%40ssw0rd" },
    { ref: "DATABASE_URL#2", value: "p@ssw0rd" },
  ]);
  expect(secretsIn({ CONN: "Server=db;User Id=app;Password=hunter22;" }, [])).toEqual([
    { ref: "CONN#1", value: "hunter22" },
  ]);
  expect(refs({ HOMEPAGE: "https://example.org:8080/a@b" })).toEqual([]);
});
