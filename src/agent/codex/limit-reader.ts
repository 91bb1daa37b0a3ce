/**
 * What the app-server tells of limits, whichever thread is concerned: they are
 * the account's. `account/rateLimits/read` is not called: it asks the vendor
 * (GET …/wham/usage), and the next answer tells the same (0.166.0).
 */
import { isDeepStrictEqual } from "node:util";
import { type Fields, fieldsOf } from "../../platform/json-fields.ts";
import type { LimitReading } from "../../session/limit.ts";
import type { Reading } from "../../session/reading.ts";
import { limitOfError, windowsOf } from "./rate-limit.ts";

export interface LimitReader {
  /** `at`: when the server sent it, where it says so. */
  readNotification(method: string, params: Fields, at: number | null): void;
}

export function createLimitReader(onReading: (reading: Reading) => void): LimitReader {
  let windows: readonly LimitReading[] = [];
  const say = (detail: string, limits: readonly LimitReading[]): void => {
    if (limits.length > 0) onReading({ source: "protocol", detail, limits });
  };
  /** The windows came right before the error, with the moment itself. */
  const isTold = (at: number | null): boolean =>
    windows.some(({ status, resetsAt }) => status === "rejected" && (resetsAt ?? 0) > (at ?? 0));
  return {
    readNotification(method, params, at) {
      if (method === "account/rateLimits/updated") {
        const next = windowsOf(fieldsOf(params["rateLimits"]));
        // It comes with every answer.
        if (isDeepStrictEqual(next, windows)) return;
        windows = next;
        say(method, next);
      } else if (method === "error" && !isTold(at)) {
        say(method, limitOfError(fieldsOf(params["error"]), at, params["willRetry"] === true));
      }
    },
  };
}
