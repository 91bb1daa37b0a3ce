// How Anthropic refuses: as Claude Code 2.1.325 knows it. The unified headers are those of a subscription.

import type { Headers, Refusal, Refused } from "./dialect.ts";
import { newId } from "./id.ts";

export function refuseMessage(refusal: Refusal): Refused {
  switch (refusal.error) {
    case "limit": {
      const seconds = Math.max(1, Math.ceil((refusal.resetsAt - Date.now()) / 1000));
      return {
        status: 429,
        headers: {
          ...usedOfMessage(100, refusal.resetsAt),
          "anthropic-ratelimit-unified-status": "rejected",
          "anthropic-ratelimit-unified-5h-status": "rejected",
          "anthropic-ratelimit-unified-overage-status": "rejected",
          "anthropic-ratelimit-unified-overage-disabled-reason": "org_level_disabled",
          "retry-after": String(seconds),
          "x-should-retry": "false",
        },
        body: body("rate_limit_error", "This request would exceed your account's rate limit. Please try again later."),
      };
    }
    case "rate":
      return {
        status: 429,
        headers: { "retry-after": "11" },
        body: body(
          "rate_limit_error",
          "This request would exceed your organization's rate limit of 50 requests per minute. For details, refer to: https://docs.claude.com/en/api/rate-limits.",
        ),
      };
    case "quota":
      return {
        status: 400,
        body: body(
          "invalid_request_error",
          "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
        ),
      };
    case "billing":
      return {
        status: 400,
        body: body(
          "invalid_request_error",
          "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
        ),
      };
    case "auth":
      return { status: 401, body: body("authentication_error", "invalid x-api-key") };
    case "context":
      return { status: 400, body: body("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum") };
    case "overloaded":
      return { status: 529, body: body("overloaded_error", "Overloaded") };
  }
}

export function usedOfMessage(percent: number, resetsAt: number): Headers {
  const reset = String(Math.round(resetsAt / 1000));
  return {
    "anthropic-ratelimit-unified-status": percent >= 80 ? "allowed_warning" : "allowed",
    "anthropic-ratelimit-unified-reset": reset,
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
    "anthropic-ratelimit-unified-5h-status": percent >= 80 ? "allowed_warning" : "allowed",
    "anthropic-ratelimit-unified-5h-reset": reset,
    "anthropic-ratelimit-unified-5h-utilization": String(percent / 100),
    "anthropic-ratelimit-unified-5h-surpassed-threshold": percent >= 80 ? "0.8" : "0.5",
    "anthropic-ratelimit-unified-7d-status": "allowed",
    "anthropic-ratelimit-unified-7d-reset": String(Math.round(resetsAt / 1000) + 86_400),
    "anthropic-ratelimit-unified-7d-utilization": "0.2",
  };
}

function body(type: string, message: string): unknown {
  return { type: "error", error: { type, message }, request_id: newId("req") };
}
