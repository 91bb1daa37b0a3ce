// Which API a path belongs to. Anything may stand before the API's own path: it is the prefix of a session.

import type { Dialect } from "./dialect.ts";
import { geminiApi } from "./gemini-api.ts";
import { messagesApi } from "./messages-api.ts";
import { responsesApi } from "./responses-api.ts";

export interface Route {
  readonly dialect: Dialect;
  readonly prefix: string;
  readonly model: string;
  readonly verb: string;
}

const routes: readonly { readonly dialect: Dialect; readonly pattern: RegExp }[] = [
  { dialect: responsesApi, pattern: /^(?<prefix>.*?)(?:\/v1)?\/responses$/ },
  { dialect: messagesApi, pattern: /^(?<prefix>.*?)\/v1\/messages(?:\/(?<verb>count_tokens))?$/ },
  {
    dialect: geminiApi,
    pattern:
      /^(?<prefix>.*?)\/v1(?:beta|alpha)?\/models\/(?<model>[^/:]+):(?<verb>streamGenerateContent|generateContent|countTokens)$/,
  },
];

export function routeOf(path: string): Route | undefined {
  for (const { dialect, pattern } of routes) {
    const groups = pattern.exec(path)?.groups;
    if (groups === undefined) continue;
    const { prefix = "", model = "", verb = "" } = groups;
    return { dialect, prefix, model, verb };
  }
  return undefined;
}
