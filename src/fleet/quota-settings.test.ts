import { expect, test } from "vitest";
import { defaultQuotaSettings, parseQuota } from "./quota-settings.ts";

test("what is not said keeps its default; what is wrong is named", () => {
  expect(parseQuota({})).toEqual(defaultQuotaSettings);
  expect(parseQuota({ enabled: false, resume: false, stagger_seconds: 0.5, retry_seconds: 30 })).toEqual({
    isEnabled: false,
    resumes: false,
    staggerMs: 500,
    firstWaitMs: 30_000,
  });
  expect(() => parseQuota({ enabled: "yes" })).toThrow("[quota] enabled must be true or false");
  expect(() => parseQuota({ retry_seconds: 0 })).toThrow("[quota] retry_seconds must be a number from 1 to 3600");
  expect(() => parseQuota({ constructor: 1 })).toThrow("there is no setting constructor in [quota]");
});
