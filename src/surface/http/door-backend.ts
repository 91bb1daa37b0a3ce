/** The operations as `/mcp` reaches them: through the door, as the caller whom the request proved to be. */
import type { Operation } from "../../operation/contract.ts";
import type { EventView } from "../../operation/event-schema.ts";
import type { Door } from "../../operation/door.ts";
import type { Log } from "../../platform/log.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Caller } from "../../session/caller.ts";
import type { Backend } from "../mcp/backend.ts";

export interface DoorParts {
  readonly unreadMail: (sessionId: string) => NonNullable<ReturnType<Backend["unreadMail"]>>;
  readonly operations: readonly Operation[];
  readonly door: Door;
  readonly log: Log;
}

export function doorBackend(
  { operations, door, unreadMail, log }: DoorParts,
  caller: Caller,
  idempotencyKey: string | undefined,
): Backend {
  const operationOf = (verb: string): Operation => {
    const name = verb.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const operation = operations.find((one) => one.name === name);
    if (operation !== undefined) return operation;
    throw new ReeveError({ code: "internal", kind: "internal", message: `There is no operation ${name}.` });
  };
  const backend: Backend = {
    isSession: caller.kind === "session",
    unreadMail: () => (caller.kind === "session" ? unreadMail(caller.id) : null),
    note: (what, error) => log(`mcp: ${what}`, { why: error instanceof Error ? error.stack : String(error) }),
    async surroundings() {
      // A model cannot give its environment; without one an agent would find neither its programs nor its log-in.
      const environment = ownEnvironment();
      // The operator's directory is not known here.
      if (caller.kind !== "session") return { environment };
      const { value } = await backend.call("getSession", { session: caller.id }, new AbortController().signal);
      return typeof value["cwd"] === "string" ? { cwd: value["cwd"], environment } : { environment };
    },
    async call(verb, input, signal) {
      const value = (await door.invoke(operationOf(verb), input, caller, {
        signal,
        idempotencyKey,
        isChecked: true,
      })) as object;
      return { value: { ...value }, text: JSON.stringify(value) };
    },
    async *follow(since, signal) {
      for await (const items of door.stream(operationOf("readEvents"), { since }, caller, { signal }))
        for (const { data } of items) yield data as EventView;
    },
  };
  return backend;
}

/** The daemon's, which is that of whoever started it. */
function ownEnvironment(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
