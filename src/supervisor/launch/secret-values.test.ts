/** Which values of an environment are secret. */
import { expect, test } from "vitest";
import { secretsIn } from "./secret-values.ts";

const refs = (environment: Readonly<Record<string, string>>, ...given: readonly string[]): readonly string[] =>
  secretsIn(environment, given).map(({ ref }) => ref);

test("what is given on purpose is secret from four characters on, whatever its name", () => {
  expect(refs({ PIN: "h7x2", X: "abc", COLOUR: "bluish" }, "PIN", "X", "COLOUR")).toEqual(["PIN", "COLOUR"]);
  expect(refs({ DEBUG: "true", NODE_ENV: "production" }, "DEBUG", "NODE_ENV")).toEqual([]);
});

test("what is named like a secret is one, the shell's own variables are not", () => {
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

test("passwords in URLs and connection strings are, also as a program decodes them", () => {
  expect(secretsIn({ DATABASE_URL: "postgres://app:p%40ssw0rd@db:5432/x" }, [])).toEqual([
    { ref: "DATABASE_URL#1", value: "p%40ssw0rd" },
    { ref: "DATABASE_URL#2", value: "p@ssw0rd" },
  ]);
  expect(secretsIn({ CONN: "Server=db;User Id=app;Password=hunter22;" }, [])).toEqual([
    { ref: "CONN#1", value: "hunter22" },
  ]);
  expect(refs({ HOMEPAGE: "https://example.org:8080/a@b" })).toEqual([]);
});

test("what is ordinary is not hidden, or nothing could be read any more", () => {
  const ordinary = {
    PORT: "3000",
    NODE_ENV: "Production",
    LANG: "de_DE.UTF-8",
    WORKSPACE: "/work/project",
    CACHE: "~/.cache/thing",
    OWNER: "alice",
    GIT_SHA: "7b168c3f0d1e2a4b5c6d7e8f9a0b1c2d3e4f5a6b",
    MODEL: "gpt-5-codex",
  };
  expect(refs({ ...ordinary, USER: "alice" }, ...Object.keys(ordinary))).toEqual([]);
  expect(
    refs({
      GIT_AUTHOR_NAME: "Alice Example",
      GIT_AUTHOR_EMAIL: "alice@example.org",
      KEYBOARD_LAYOUT: "german",
      MAX_OUTPUT_TOKENS: "128000",
      GOOGLE_APPLICATION_CREDENTIALS: "/home/alice/key.json",
      PASSWORD_STORE_DIR: "/home/alice/.password-store",
      DATABASE_URL: "postgres://postgres:postgres@localhost:5432/app",
      OTHER_URL: "mysql://application:application@localhost/app",
    }),
  ).toEqual([]);
});

test("a name that says secret wins over a value that looks ordinary", () => {
  expect(refs({ PIN: "4711", USER_KEY: "alices-own", AUTHORIZATION: "Basic abc" }, "PIN", "USER_KEY")).toEqual([
    "PIN",
    "USER_KEY",
    "AUTHORIZATION",
  ]);
});

test("a password with an @, behind jdbc:, and in the query of a URL is one", () => {
  const passwords = (value: string): readonly string[] => secretsIn({ X: value }, []).map((secret) => secret.value);
  expect(passwords("postgres://app:p@ssw0rd@db:5432/x")).toEqual(["p@ssw0rd"]);
  expect(passwords("redis://:hunter22@cache:6379/0")).toEqual(["hunter22"]);
  expect(passwords("jdbc:postgresql://app:hunter22@db/x")).toEqual(["hunter22"]);
  expect(passwords("jdbc:postgresql://db/x?user=app&password=hunter22&ssl=true")).toEqual(["hunter22"]);
});
