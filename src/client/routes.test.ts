import { describe, expect, it } from "vitest";
import type { Operation } from "../operation/contract.ts";
import { operations } from "../operation/operations.ts";
import { aim, ROUTES } from "./routes.ts";

const routeOf = ({ method, path, without, stream }: Operation) => ({
  method,
  path,
  ...(without === undefined ? {} : { pathWithout: without.path }),
  ...(stream === undefined ? {} : { streams: true }),
});

describe("ROUTES", () => {
  it("are those of the operations, all of them, with what streams", () => {
    const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const expected = Object.fromEntries(operations.map((operation) => [camelCase(operation.name), routeOf(operation)]));
    expect(ROUTES).toEqual(expected);
  });
});

describe("aim", () => {
  it("puts the session into the path and the rest into the query, arrays repeated", () => {
    const target = aim(ROUTES.waitForSession, {
      session: "a b",
      also: ["x", "y&z"],
      for: [],
      since: 0,
      mode: undefined,
    });
    expect(target).toEqual({ method: "GET", path: "/v1/sessions/a%20b/wait?also=x&also=y%26z&since=0" });
  });

  it("goes where nothing is named, if nothing is named", () => {
    expect(aim(ROUTES.waitForSession, { role: "q", mode: "all" }).path).toBe("/v1/wait?role=q&mode=all");
  });

  it("puts what a change needs into the body", () => {
    expect(aim(ROUTES.pauseSession, { session: "a", suspend: true })).toEqual({
      method: "POST",
      path: "/v1/sessions/a/pause",
      body: '{"suspend":true}',
    });
  });

  it.each(["", ".", ".."])("refuses %j, which would name another path", (session) => {
    expect(() => aim(ROUTES.getSession, { session })).toThrow("cannot name a session");
  });
});
