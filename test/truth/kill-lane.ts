/** One of many sessions under load: takes numbered messages, and knows which of them really arrived. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ReeveError } from "../../src/platform/reeve-error.ts";
import { AGENTS, userEnvironment } from "./agent-setup.ts";
import type { Mode } from "./case.ts";
import type { Finding } from "./finding.ts";
import { arrivalsOf, practiceArrivals } from "./ground-truth.ts";
import type { Arrival, Sent } from "./history.ts";
import type { Outcome } from "./judge-messages.ts";
import { isOutcome, judgeMessages } from "./judge-messages.ts";
import { isThere, mainProcess } from "./kernel.ts";
import { linesArrived } from "./lines.ts";
import { promptOf } from "./prompts.ts";
import type { World } from "./world.ts";

/** More than this would only test how long a mailbox may get. */
const MOST_WAITING = 4;
const MOST_ATTEMPTS = 20;

export interface KillLane {
  readonly mode: Mode;
  readonly sessionId: string;
  readonly sent: readonly Sent[];
  isReady(): boolean;
  mayTakeMore(): boolean;
  send(timeoutSeconds: number): Promise<void>;
  isSettled(): boolean;
  told(outcome: Outcome): number;
  isSameProcess(): boolean;
  judge(): readonly Finding[];
}

export async function createKillLane(world: World, mode: Mode, index: number): Promise<KillLane> {
  const { home, client, model } = world;
  const prefix = `/s/${index}`;
  const workDir = join(home.dir, `work-${index}`);
  const userDir = join(home.dir, `user-${index}`);
  mkdirSync(workDir);
  mkdirSync(userDir);
  const { agent, args } = AGENTS[mode];
  const own = await userEnvironment(mode, userDir, workDir, `${model.url}${prefix}`, home.environment["PATH"] ?? "");
  const environment = { ...home.environment, ...own };
  const started = await client.startSession({ agent, args: [...args], cwd: workDir, environment });
  const { session_id: sessionId, outputs_dir: outputsDir } = started;
  const sent: Sent[] = [];
  let activity = "";
  let waiting = 0;
  let main = null as ReturnType<typeof mainProcess>;
  world.onRow(({ session }) => {
    if (session.session_id === sessionId) activity = session.activity;
  });

  const told = new Set<unknown>();
  world.onEvent((event, id) => {
    if (id === sessionId && isOutcome(event)) told.add(event.data["message_id"]);
  });
  const events = () => world.eventsOf(sessionId).filter(({ type }) => type.startsWith("message-"));
  const isTold = ({ isAcknowledged, messageId }: Sent): boolean => !isAcknowledged || told.has(messageId);

  function arrivals(): readonly Arrival[] {
    if (mode === "practice") return practiceArrivals(readIfThere(join(outputsDir, "transcript.jsonl")));
    if (mode === "command") return linesArrived(readIfThere(join(workDir, "received")));
    const requests = model.requests({ prefix, hidden: false });
    return arrivalsOf(requests.slice(-1), []);
  }

  /** A client gives up after half a minute of deaths and names its key: with that, whoever insists sends it once. */
  async function insist(input: Parameters<typeof client.sendMessage>[0], tag: string): Promise<string | null> {
    const idempotencyKey = `kill-${tag}`;
    for (let attempt = 1; ; attempt++) {
      try {
        return (await client.sendMessage(input, { idempotencyKey })).message_id;
      } catch (error) {
        const isPassing = error instanceof ReeveError && error.kind === "unavailable";
        if (isPassing && attempt < MOST_ATTEMPTS) continue;
        world.fail(`client.sendMessage ${tag}`, error);
        return null;
      }
    }
  }

  return {
    mode,
    sessionId,
    sent,
    isReady() {
      main ??= mainProcess(home, sessionId, 1);
      return main !== null && (mode === "command" || activity === "idle");
    },
    mayTakeMore: () =>
      waiting < MOST_WAITING && sent.slice(-MOST_WAITING).filter((message) => !isTold(message)).length < MOST_WAITING,
    async send(timeoutSeconds) {
      waiting += 1;
      const tag = `q${index}n${sent.length + waiting}q`;
      const text = promptOf(mode, "say", tag, "");
      const at = Date.now();
      const message = { tag, text, how: "queue" as const, at, mayBeMissing: false };
      const messageId = await insist({ session: sessionId, text, timeout_seconds: timeoutSeconds }, tag);
      sent.push({ ...message, messageId, isAcknowledged: messageId !== null });
      waiting -= 1;
    },
    isSettled: () => sent.every(isTold) && (mode === "command" || activity === "idle"),
    told: (outcome) => events().filter(({ type }) => type === `message-${outcome}`).length,
    isSameProcess: () => main !== null && isThere(main),
    judge: () => judgeMessages({ arrivals: arrivals(), sent, events: events() }),
  };
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}
