// How OpenAI refuses: as codex 0.166.0 knows it (codex-api/src/api_bridge.rs, rate_limits.rs, sse/responses.rs).

import type { Headers, Refusal, Refused } from "./dialect.ts";
import { event } from "./dialect.ts";
import { newId } from "./id.ts";

/** The window of five hours that a subscription has. */
const WINDOW_MINUTES = 300;

export function refuseResponse(refusal: Refusal): Refused {
  switch (refusal.error) {
    case "limit": {
      const resets_at = Math.round(refusal.resetsAt / 1000);
      const resets_in_seconds = Math.max(0, resets_at - Math.floor(Date.now() / 1000));
      const message = "The usage limit has been reached";
      return {
        status: 429,
        headers: usedOfResponse(100, refusal.resetsAt),
        body: { error: { type: "usage_limit_reached", message, plan_type: "pro", resets_at, resets_in_seconds } },
      };
    }
    case "rate":
      return failedStream(
        "rate_limit_exceeded",
        `Rate limit reached for ${refusal.model} in organization org-scripted on tokens per min (TPM): Limit 30000, Used 22999, Requested 12528. Please try again in 11.054s. Visit https://platform.openai.com/account/rate-limits to learn more.`,
      );
    case "quota":
      return failedStream(
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
      );
    case "context":
      return failedStream(
        "context_length_exceeded",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
      );
    case "billing":
      return {
        status: 429,
        body: { error: { type: "usage_not_included", message: "Usage not included in your plan" } },
      };
    case "auth": {
      const message =
        "Incorrect API key provided: scripted. You can find your API key at https://platform.openai.com/account/api-keys.";
      return {
        status: 401,
        body: { error: { message, type: "invalid_request_error", param: null, code: "invalid_api_key" } },
      };
    }
    case "overloaded": {
      const message = "Our servers are currently overloaded. Please try again later.";
      return {
        status: 503,
        body: { error: { message, type: "service_unavailable_error", code: "server_is_overloaded" } },
      };
    }
  }
}

export function usedOfResponse(percent: number, resetsAt: number): Headers {
  return {
    "x-codex-primary-used-percent": String(percent),
    "x-codex-primary-window-minutes": String(WINDOW_MINUTES),
    "x-codex-primary-reset-at": String(Math.round(resetsAt / 1000)),
  };
}

/** These come after the stream has begun. */
function failedStream(code: string, message: string): Refused {
  const response = { id: newId("resp"), object: "response", created_at: Math.floor(Date.now() / 1000), output: [] };
  const failed = { ...response, status: "failed", error: { code, message } };
  return {
    status: 200,
    body: failed,
    events:
      event("response.created", { sequence_number: 0, response: { ...response, status: "in_progress", error: null } }) +
      event("response.failed", { sequence_number: 1, response: failed }),
  };
}
