// How Google refuses: as Gemini CLI 0.61.0 knows it (core/src/utils/googleQuotaErrors.ts).

import type { Refusal, Refused } from "./dialect.ts";

/** What one that names no time gets: a minute's limit. */
const RATE_SECONDS = 11;

export function refuseGeneration(refusal: Refusal): Refused {
  switch (refusal.error) {
    case "limit":
      return exceeded(refusal.model, "PerMinute", Math.max(1, Math.ceil((refusal.resetsAt - Date.now()) / 1000)));
    case "rate":
      return exceeded(refusal.model, "PerMinute", RATE_SECONDS);
    case "quota":
      return exceeded(refusal.model, "PerDay", 40);
    case "billing":
      return error(
        429,
        "RESOURCE_EXHAUSTED",
        "Your prepayment credits are depleted. Please go to AI Studio at https://ai.studio/projects to manage your project and billing.",
        [
          {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            reason: "INSUFFICIENT_G1_CREDITS_BALANCE",
            domain: "cloudcode-pa.googleapis.com",
          },
        ],
      );
    case "auth":
      return error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
        {
          "@type": "type.googleapis.com/google.rpc.ErrorInfo",
          reason: "API_KEY_INVALID",
          domain: "googleapis.com",
          metadata: { service: "generativelanguage.googleapis.com" },
        },
      ]);
    case "context":
      return error(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      );
    case "overloaded":
      return error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.");
  }
}

function exceeded(model: string, per: "PerMinute" | "PerDay", seconds: number): Refused {
  const metric = "generativelanguage.googleapis.com/generate_content_free_tier_requests";
  const message = [
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.",
    `* Quota exceeded for metric: ${metric}, limit: 20, model: ${model}`,
    `Please retry in ${seconds}s.`,
  ].join("\n");
  return error(429, "RESOURCE_EXHAUSTED", message, [
    {
      "@type": "type.googleapis.com/google.rpc.Help",
      links: [
        {
          description: "Learn more about Gemini API quotas",
          url: "https://ai.google.dev/gemini-api/docs/rate-limits",
        },
      ],
    },
    {
      "@type": "type.googleapis.com/google.rpc.QuotaFailure",
      violations: [
        {
          quotaMetric: metric,
          quotaId: `GenerateRequests${per}PerProjectPerModel-FreeTier`,
          quotaDimensions: { location: "global", model },
          quotaValue: "20",
        },
      ],
    },
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${seconds}s` },
  ]);
}

function error(code: number, status: string, message: string, details?: readonly unknown[]): Refused {
  return { status: code, body: { error: { code, message, status, ...(details === undefined ? {} : { details }) } } };
}
