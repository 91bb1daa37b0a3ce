/** The operations as `reeve mcp` reaches them: over the daemon's socket, as whoever started it. */
import type { Client } from "../../client/create-client.ts";
import type { Verb } from "../../client/operation-types.ts";
import type { UnreadMailCount } from "../../client/request.ts";
import { PASS_VARIABLE } from "../../platform/pass.ts";
import type { Answer, Backend, Fields } from "./backend.ts";

export interface ClientParts {
  /** Tells with each answer how much mail is unread. */
  readonly client: (onUnreadMail: (count: UnreadMailCount) => void) => Client;
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: () => string;
  readonly note: Backend["note"];
}

export function clientBackend({ client: connect, environment, cwd, note }: ClientParts): Backend {
  let unread: UnreadMailCount | null = null;
  const client = connect((count) => {
    unread = count;
  });
  return {
    unreadMail: () => unread,
    isSession: (environment[PASS_VARIABLE] ?? "") !== "",
    note,
    surroundings: async () => ({ cwd: cwd(), environment }),
    async call(verb: Verb, input: Fields, signal: AbortSignal): Promise<Answer> {
      if (verb === "waitForSession") {
        // The door checks what it is; this one goes on across the death of a daemon.
        const value = await client.waitForSession(input, { signal });
        return { value, text: JSON.stringify(value) };
      }
      const text = (await client.callForBytes(verb, input, { signal })).toString("utf8");
      return { value: JSON.parse(text) as Fields, text };
    },
    follow: (since, signal) => client.followEvents({ since }, { signal }),
  };
}
