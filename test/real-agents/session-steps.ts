/** What tests of real agents do with a session: answer in its pane, type as a person, count what the model was asked. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { Result } from "../support/test-home.ts";
import { runProgram } from "../support/test-home.ts";
import type { RecordedRequest } from "../scripted-model/record.ts";
import type { Rig } from "./rig.ts";

export async function endNow(rig: Rig, id: string): Promise<void> {
  await rig.home.json("end", id, "--when", "now");
  expect(rig.home.marked(id)).toEqual([]);
}

/** Sends, is told that it was delivered, and waits for the end of the turn. */
export async function turn(rig: Rig, id: string, text: string, ...options: readonly string[]): Promise<void> {
  const sent = await rig.home.run(["send", id, text, "--timeout", "30", "--json", ...options]);
  expect(sent).toMatchObject({ status: 0 });
  const { state, cursor } = JSON.parse(sent.stdout) as { readonly state: string; readonly cursor: number };
  expect(state).toBe("delivered");
  expect(await rig.wait(id, "--since", String(cursor), "--for", "turn-completed")).toMatchObject({ done: true });
}

/** One key in its pane. */
export async function press(rig: Rig, id: string, ...keys: readonly string[]): Promise<void> {
  const { runtime } = await rig.home.session(id);
  const pane = (runtime as { readonly id?: string }).id ?? "";
  const words = ["-S", rig.home.tmuxSocket, "send-keys", "-t", pane, ...keys];
  expect(await runProgram("tmux", words, rig.home.environment)).toMatchObject({ status: 0 });
}

export async function screenOf(rig: Rig, id: string): Promise<string> {
  return (await rig.home.json<{ text?: string }>("data", id, "--source", "screen")).text ?? "";
}

export async function isIdle(rig: Rig, id: string): Promise<boolean> {
  return (await rig.home.session(id))["activity"] === "idle";
}

/** Its turn has begun, and the model works on it. */
export async function atWork(rig: Rig, id: string, prompt: string): Promise<void> {
  const hasBegun = async (): Promise<boolean> =>
    (await rig.events(id)).some((event) => event.type === "turn-started") &&
    rig.asked().some((request) => request.prompt === prompt && request.outcome === undefined);
  await eventually("its turn is under way", hasBegun, 60_000);
}

/** The types of a session's events that begin with this. */
export async function happened(rig: Rig, id: string, prefix: string): Promise<readonly string[]> {
  return (await rig.events(id)).map((event) => event.type).filter((type) => type.startsWith(prefix));
}

/** How often a text stands among what the person said, in the conversation that the model was shown. */
export function timesSaid(request: RecordedRequest | undefined, text: string): number {
  const users = (request?.messages ?? []).filter((message) => message.role === "user");
  return users.reduce((sum, message) => sum + message.text.split(text).length - 1, 0);
}

export interface Refusal {
  readonly error: { readonly code: string; readonly message: string };
}

export function refusalOf(result: Result): Refusal["error"] {
  return (JSON.parse(result.stdout) as Refusal).error;
}

export interface Person {
  type(keys: string): void;
  leave(): Promise<void>;
}

/** A person at a terminal of their own, attached to the session: `script` gives them one. */
export async function attachPerson(rig: Rig, id: string): Promise<Person> {
  const { argv } = await rig.home.json<{ argv: readonly string[] }>("attach", id);
  const quoted = argv.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
  const child = spawn("script", ["-qec", quoted, "/dev/null"], {
    env: rig.home.environment,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = once(child, "close");
  const clients = ["-S", rig.home.tmuxSocket, "list-clients", "-F", "#{client_control_mode}"];
  await eventually("the person is there", async () =>
    (await runProgram("tmux", clients, rig.home.environment)).stdout.split("\n").includes("0"),
  );
  return {
    type: (keys) => void child.stdin.write(keys),
    async leave() {
      // The terminal goes with it, as when a window is closed.
      child.kill("SIGKILL");
      await ended;
    },
  };
}
