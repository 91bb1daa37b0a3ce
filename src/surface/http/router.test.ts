import { expect, test } from "vitest";
import { operations } from "../../operation/operations.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { createRouter } from "./router.ts";

const route = createRouter(operations);

function refusal(method: string, path: string): ReeveError {
  try {
    route(method, path);
  } catch (error) {
    if (error instanceof ReeveError) return error;
    throw error;
  }
  throw new Error("there is something");
}

test("a path leads to its operation, with what stands in it", () => {
  const { operation, parameters } = route("GET", "/v1/sessions/a%20b/data");
  expect([operation?.name, parameters]).toEqual(["get_session_data", { session: "a b" }]);
  expect(route("GET", "/openapi.json").operation).toBeNull();
});

test.each([
  ["/v1/session", 'There is nothing at "/v1/session"; did you mean /v1/sessions?'],
  ["/v1/sessions/", 'There is nothing at "/v1/sessions/"; did you mean /v1/sessions?'],
  ["/v1/sessions/fix/date", 'There is nothing at "/v1/sessions/fix/date"; did you mean /v1/sessions/fix/data?'],
  ["/v2/events", 'There is nothing at "/v2/events"; did you mean /v1/events?'],
  ["/openapi.yaml", 'There is nothing at "/openapi.yaml"; did you mean /openapi.json?'],
  ["/", 'There is nothing at "/"; see /openapi.json.'],
])("%s is not there, and the nearest path is named", (path, sentence) => {
  expect(refusal("GET", path)).toMatchObject({ code: "unknown-path", httpStatus: 404, message: sentence });
});

test.each([
  ["DELETE", "/v1/sessions", ["POST", "GET"], '"/v1/sessions" takes POST or GET, not DELETE.'],
  ["GET", "/v1/sessions/fix/end", ["POST"], '"/v1/sessions/fix/end" takes POST, not GET.'],
  ["POST", "/openapi.json", ["GET"], '"/openapi.json" takes GET, not POST.'],
])("%s %s is refused with what is taken there", (method, path, allow, sentence) => {
  const { code, httpStatus, message, details } = refusal(method, path);
  expect({ code, httpStatus, message, details }).toEqual({
    code: "wrong-method",
    httpStatus: 405,
    message: sentence,
    details: { allow },
  });
});
