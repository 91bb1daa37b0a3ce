/** The kinds of failure as a table: docs/spec/failures.md. */
import { FAILURES, type Treatment } from "../src/session/failure.ts";

const SCOPES = { process: "its process", turn: "a turn", surroundings: "what is around it" } as const;
const RETRIES = {
  restart: "starts it again, if its restart policy says so",
  reset: "waits until the limit resets",
  no: "does nothing by itself",
} as const;
const TELLS = { "at-once": "at once", "given-up": "when that did not help" } as const;

export function renderFailures(): string {
  const head = "| kind | what failed | what happened | Reeve | you are told | what you can do |";
  const rule = "| --- | --- | --- | --- | --- | --- |";
  return `${[head, rule, ...Object.entries<Treatment>(FAILURES).map(row)].join("\n")}\n`;
}

function row([kind, { scope, retry, tells, text, suggestion }]: readonly [string, Treatment]): string {
  return `| \`${kind}\` | ${SCOPES[scope]} | ${text} | ${RETRIES[retry]} | ${TELLS[tells]} | ${suggestion} |`;
}
