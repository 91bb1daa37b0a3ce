/**
 * With the real Codex and OpenAI's own provider, which talks to the
 * model over a websocket: what passes the capture proxy is recorded message by
 * message, as the model received and sent it, what messages say of limits
 * reaches the quota breaker, and what Codex is logged in with is in none of
 * Reeve's files.
 */
import { expect, test } from "vitest";
import type { KeptExchange } from "../scripted-model/scripted-model.ts";
import { eventually } from "../support/eventually.ts";
import { filesHolding } from "../support/files-holding.ts";
import { type RawLogLine, readRawLog } from "../support/raw-log.ts";
import { CASES, createRig, disposeWhole, type Rig } from "./rig.ts";
import { endNow } from "./session-steps.ts";

/** Nobody knows it by its form. */
const CANARY = "c4n4ry-0f1e2d3c4b5a69788796-end";

const LOGINS = [
  // Reeve has never seen this one: only the name of the header tells that it is a secret.
  { how: "with ChatGPT", agentCase: CASES.codexAppServer, openai: { accessToken: CANARY }, word: "hello", options: [] },
  {
    how: "with a key that its commands need, too",
    agentCase: CASES.codexHooks,
    openai: { key: CANARY },
    word: CANARY,
    options: ["--env", `API_VALUE=${CANARY}`],
  },
];

test.concurrent.each(LOGINS)(
  "$agentCase.title, logged in $how: its websocket is recorded as it was, without the secret",
  { timeout: 180_000 },
  async ({ agentCase, openai, word, options }) => {
    const rig = await createRig(
      // Its other arguments are for a provider of the user's.
      { ...agentCase, args: [] },
      { model: { keepsBytes: true, websockets: true }, agentHome: { openai } },
    );
    try {
      const { session_id: id } = await rig.start(`[[used 83]] [[shell echo one]] [[say it is ${word}, that is all]]`, {
        options: ["--persist-session", "--capture", "proxy", ...options],
      });
      expect(await rig.wait(id, "--since", "0")).toMatchObject({ reason: "turn-completed" });
      const since = await rig.cursor(id);
      await rig.home.json("send", id, "[[say two]]");
      expect(await rig.wait(id, "--since", since)).toMatchObject({ reason: "turn-completed" });
      expect(rig.asked().map(({ says }) => says)).toEqual(["", `it is ${word}, that is all`, "two"]);

      // What its messages said of limits has reached the quota breaker, before Codex itself told it.
      const quotas = async (): Promise<string> => (await rig.home.run(["quota", "--json"])).stdout;
      await eventually("what is used is known", async () => /"used_percent":83\b/.test(await quotas()));
      const explained = async (): Promise<string> => (await rig.home.run(["explain", id, "--json"])).stdout;
      // With its app-server, that one has the last word.
      if (agentCase === CASES.codexHooks)
        await eventually("a message told it", async () => (await explained()).includes("a message of a websocket"));

      const directory = String((await rig.data(id)).session["outputs_dir"]);
      const sent = rig.model.exchanges().map(expected).filter(hasTurn);
      const inRecord = (): readonly Conversation[] => recordedIn(directory).filter(hasTurn);
      await eventually("all messages are recorded", () => countOf(inRecord()) === countOf(sent));
      await endNow(rig, id);
      await eventually("the end is recorded", () => inRecord().every(({ end }) => end !== undefined));
      const placeholder = inRecord()[0]?.authorization?.replace("Bearer ", "") ?? "";
      expect(placeholder).toMatch(/^\[redacted [0-9a-f]{6}\]$/);
      // Codex breaks the connection off when it ends.
      const end = { outcome: "agent-left", status: 101, model: "scripted" };
      expect(inRecord()).toMatchObject(
        sent.map((conversation) => ({ ...withPlaceholder(conversation, placeholder), end })),
      );
      await rig.home.json("daemon", "stop");
      expect(leaks(rig)).toEqual([]);
    } finally {
      await disposeWhole(rig);
    }
  },
);

/** One websocket: its messages from either side. */
interface Conversation {
  readonly path: string;
  readonly key: string | undefined;
  readonly authorization: string | undefined;
  readonly agent: readonly string[];
  readonly model: readonly string[];
  readonly end?: RawLogLine | undefined;
}

/** Now and then Codex opens a second one and warms it up: it need not wait for what comes back there. */
function hasTurn({ agent }: Conversation): boolean {
  return agent.length > 1;
}

function countOf(conversations: readonly Conversation[]): number {
  return conversations.reduce((sum, { agent, model }) => sum + agent.length + model.length, 0);
}

function expected({ path, headers, request, response }: KeptExchange): Conversation {
  const { authorization, "sec-websocket-key": key } = headers;
  return { path, key, authorization, agent: request.map(String), model: response.map(String) };
}

/** The same secret has the same tag wherever it stands. */
function withPlaceholder(conversation: Conversation, placeholder: string): Conversation {
  const clean = (text: string): string => text.replaceAll(CANARY, placeholder);
  const { authorization = "", agent, model } = conversation;
  return { ...conversation, authorization: clean(authorization), agent: agent.map(clean), model: model.map(clean) };
}

function recordedIn(directory: string): readonly Conversation[] {
  const lines = readRawLog(directory);
  return lines
    .filter(({ kind }) => kind === "request")
    .map(({ exchange, url = "", headers = [] }) => {
      const own = lines.filter((line) => line.exchange === exchange);
      const said = (from: "agent" | "model"): readonly string[] =>
        own.filter((line) => line.from === from && line.opcode === 1).map(({ body = "" }) => body);
      const header = (wanted: string): string | undefined =>
        headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
      return {
        path: new URL(url).pathname,
        key: header("sec-websocket-key"),
        authorization: header("authorization"),
        agent: said("agent"),
        model: said("model"),
        end: own.find(({ kind }) => kind === "end"),
      };
    });
}

function leaks({ home, user, workDir }: Rig): readonly string[] {
  return filesHolding(home.dir, [CANARY.slice(0, 12), CANARY.slice(-12)]).filter(
    (path) => !path.startsWith(user.dir) && !path.startsWith(workDir),
  );
}
