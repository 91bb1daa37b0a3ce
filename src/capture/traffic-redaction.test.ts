import { expect, test } from "vitest";
import { createTagger } from "./secret-tag.ts";
import { createTrafficRedaction } from "./traffic-redaction.ts";

const tag = createTagger("k");
const { headers, url } = createTrafficRedaction(["known-s3cret-value-1"], "k");
const hidden = (secret: string): string => `[redacted ${tag(secret)}]`;

test.each([
  ["Authorization", "Bearer abc", `Bearer ${hidden("abc")}`],
  ["authorization", "abc", hidden("abc")],
  ["Proxy-Authorization", "Basic dXNlcjpw", `Basic ${hidden("dXNlcjpw")}`],
  ["Cookie", "a=1; b=2", hidden("a=1; b=2")],
  ["Set-Cookie", "a=1", hidden("a=1")],
  ["x-api-key", "v", hidden("v")],
  ["X-Goog-Api-Key", "v", hidden("v")],
  ["api-key", "v", hidden("v")],
  ["x-amz-security-token", "v", hidden("v")],
  ["x-client-secret", "v", hidden("v")],
  ["ocp-apim-subscription-key", "v", hidden("v")],
  ["x-ratelimit-remaining-tokens", "99", "99"],
  ["sec-websocket-key", "dGhl", "dGhl"],
  ["idempotency-key", "12", "12"],
  ["content-type", "application/json", "application/json"],
  ["x-other", "with known-s3cret-value-1 in it", `with ${hidden("known-s3cret-value-1")} in it`],
])("%s: %s", (name, value, safe) => {
  expect(headers([name, value])).toEqual([[name, safe]]);
});

test.each([
  ["https://h/v1?key=abc&alt=sse", `https://h/v1?key=${hidden("abc")}&alt=sse`],
  ["https://h/v1?api_key=a%2Fb&x", `https://h/v1?api_key=${hidden("a/b")}&x`],
  ["https://h/v1?access_token=t&token=t", `https://h/v1?access_token=${hidden("t")}&token=${hidden("t")}`],
  ["https://h/known-s3cret-value-1/x", `https://h/${hidden("known-s3cret-value-1")}/x`],
  ["https://h/x?max_tokens=5&model=m", "https://h/x?max_tokens=5&model=m"],
])("%s", (address, safe) => {
  expect(url(address)).toBe(safe);
});
