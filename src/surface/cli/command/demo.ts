import type { Client } from "../../../client/create-client.ts";
import type { WakeReason } from "../../../session/wake.ts";
import { answer } from "../answer.ts";
import { calledAs } from "../called-as.ts";
import { callerEnvironment } from "../caller-environment.ts";
import type { CliContext, CliCommand } from "../command.ts";
import { statusOfWait } from "../exit-codes.ts";
import { sessionTable } from "../session-text.ts";

const SESSIONS = [
  { name: "demo-reads", prompt: "read the plan and say what it means", shows: "turn-completed" },
  { name: "demo-asks", prompt: "ask rm -r build", shows: "awaiting-approval" },
  { name: "demo-crashes", prompt: "crash", shows: "exited" },
] as const satisfies readonly { readonly name: string; readonly prompt: string; readonly shows: WakeReason }[];

export const demoCommand: CliCommand = {
  name: "demo",
  summary: "start three practice sessions: one reads, one asks, one crashes",
  arguments: [],
  options: [],
  notes: ["They need no model and no account. Practice sessions that already run are not started again."],
  examples: [{ line: "reeve demo", does: "see what Reeve shows, then try the commands it names" }],

  async run(_input, context) {
    const client = context.client();
    const { sessions: before } = await client.listSessions();
    const missing = SESSIONS.filter(({ name }) => !before.some((session) => session.name === name));
    context.output.note(
      missing.length === 0
        ? "The practice sessions are there already."
        : `Starting ${missing.map(({ name }) => name).join(", ")}.`,
    );
    const shown = await Promise.all(missing.map((wanted) => startAndWait(client, wanted, context)));
    const listed = await client.listSessions();
    const names = new Set<string>(SESSIONS.map(({ name }) => name));
    const sessions = listed.sessions.filter((session) => names.has(session.name));
    const next = nextCommands(calledAs(context.program, context.environment, context.cwd()));
    const table = context.isJson ? "" : await sessionTable(sessions, context.output, Date.now());
    answer(context, { sessions, cursor: listed.cursor, next }, () =>
      [table, "What to try next:", ...next.map((line) => `  ${line}`)].join("\n"),
    );
    return shown.find((status) => status !== 0) ?? 0;
  },
};

/** Practice turns take a second or two; this is a machine that is very busy. */
const LONGEST_SECONDS = 60;

async function startAndWait(client: Client, wanted: (typeof SESSIONS)[number], context: CliContext): Promise<number> {
  const session = await client.startSession({
    agent: "practice",
    name: wanted.name,
    prompt: wanted.prompt,
    role: "demo",
    cwd: context.cwd(),
    environment: callerEnvironment(context),
  });
  const waited = await client.waitForSession({
    session: session.session_id,
    for: [wanted.shows],
    reply: false,
    since: session.cursor,
    timeout_seconds: LONGEST_SECONDS,
  });
  if (!waited.done)
    context.output.note(
      `${wanted.name} did not show ${wanted.shows} within ${LONGEST_SECONDS} s; see reeve events ${wanted.name}.`,
    );
  return statusOfWait(waited);
}

function nextCommands(reeve: string): readonly string[] {
  const words = ["approvals", "approve demo-asks", "attach demo-asks", "data demo-crashes", "end --all"];
  return words.map((line) => `${reeve} ${line}`);
}
