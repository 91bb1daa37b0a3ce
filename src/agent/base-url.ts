/** The base URL that a user has configured for an agent, as an upstream of the capture proxy. */
import { ReeveError } from "../platform/reeve-error.ts";

/** Without a slash at the end. Throws what is wrong with it. `where`: in words, such as "ANTHROPIC_BASE_URL". */
export function upstreamOf(text: string, where: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw refusal(`${where} is not an http or https URL: correct it, or leave --capture proxy out.`);
  if (url.username !== "" || url.password !== "")
    throw refusal(
      `${where} holds a user name or password, which Reeve does not keep: give it as a header, or leave --capture proxy out.`,
    );
  if (url.search !== "" || url.hash !== "")
    throw refusal(`${where} has a query, which cannot be captured: remove it, or leave --capture proxy out.`);
  return text.trim().replace(/\/+$/, "");
}

/**
 * The variables that keep an agent from sending what is for the capture proxy to a proxy of the user's: the spelling
 * that they use, or both.
 */
export function withoutOwnProxy(paths: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const names = NO_PROXY_VARIABLES.filter((name) => (paths[name] ?? "") !== "");
  const entries = (names.length === 0 ? NO_PROXY_VARIABLES : names).map((name) => {
    const before = (paths[name] ?? "").split(",").filter((host) => host !== "" && host !== LOOPBACK);
    return [name, before.includes("*") ? "*" : [...before, LOOPBACK].join(",")];
  });
  return Object.fromEntries(entries) as Readonly<Record<string, string>>;
}

export const NO_PROXY_VARIABLES = ["NO_PROXY", "no_proxy"] as const;
const LOOPBACK = "127.0.0.1";

function refusal(message: string): ReeveError {
  return new ReeveError({ code: "bad-base-url", kind: "usage", message });
}
