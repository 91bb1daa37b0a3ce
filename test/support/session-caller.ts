/** Sessions that call Reeve: what is in the environment of their programs, and a client that uses it. */
import { join } from "node:path";
import { createClient } from "../../src/client/create-client.ts";
import type { Client, ClientOptions } from "../../src/client/create-client.ts";
import { daemonCommand } from "../../src/client/daemon-command.ts";
import { readEnvironmentVariable } from "../../src/platform/process-table.ts";
import { eventually } from "./eventually.ts";
import type { SessionRow, TestHome } from "./test-home.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** A session that does nothing and stays. */
export async function startSleeper(home: TestHome, name: string, ...options: readonly string[]): Promise<SessionRow> {
  const args = ["start", "command", "--name", name, ...options, "--", "sleep", "600"];
  const session = await home.json<SessionRow>(...args);
  await eventually(`${name} runs`, async () => (await home.session(name)).state === "running");
  return session;
}

/** As it stands in the environment of the program that runs now. */
export async function passOf(home: TestHome, { session_id }: Pick<SessionRow, "session_id">): Promise<string> {
  return await eventually("its program runs", () =>
    home
      .marked(session_id)
      .map(({ pid }) => readEnvironmentVariable(pid, "REEVE_PASS"))
      .findLast((found) => found !== null),
  );
}

/** What tells a program that it runs in this session. */
export async function insideOf(
  home: TestHome,
  session: Pick<SessionRow, "session_id">,
): Promise<Readonly<Record<string, string>>> {
  return {
    REEVE_SESSION_ID: session.session_id,
    REEVE_PASS: await passOf(home, session),
    REEVE_SOCKET: join(home.dir, "run", "call.sock"),
  };
}

export async function clientOf(
  home: TestHome,
  session: Pick<SessionRow, "session_id">,
  options: ClientOptions = {},
): Promise<Client> {
  const environment = { ...home.environment, ...(await insideOf(home, session)) };
  return createClient(options, { daemonCommand: () => daemonCommand(ROOT), environment });
}

export function operatorOf(home: TestHome, options: ClientOptions = {}): Client {
  return createClient(options, { daemonCommand: () => daemonCommand(ROOT), environment: home.environment });
}
