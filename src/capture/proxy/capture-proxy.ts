/** The capture proxy as a whole: routes, the door for agents, the door for the daemon, and when it ends. */
import { systemClock } from "../../platform/clock.ts";
import type { ReadUsage } from "../../session/model-call.ts";
import { createCopyQueue } from "../copy-queue.ts";
import type { Command, Observation } from "./contract.ts";
import { assertNoneRuns, type ControlServer, startControlServer } from "./control-server.ts";
import type { Refusal } from "./refusal.ts";
import { createRoutes } from "./routes.ts";
import { startProxyServer } from "./server.ts";

export interface CaptureProxy {
  readonly port: number;
  /** Resolves when it has ended, by itself or by `stop`. */
  readonly ended: Promise<void>;
  stop(): void;
}

/** It ends by itself when nobody has needed it for so long. A daemon that starts again takes a second. */
const IDLE_MS = 60_000;
const LOOK_MS = 5_000;

export async function startCaptureProxy(options: {
  readonly controlPath: string;
  readonly port: number;
  readonly readUsage: ReadUsage;
}): Promise<CaptureProxy> {
  await assertNoneRuns(options.controlPath);
  let control: ControlServer | null = null;
  const observe = (observation: Observation): void => control?.tell(observation);
  const routes = createRoutes({ readUsage: options.readUsage, clock: systemClock, queue: createCopyQueue(), observe });
  const server = await startProxyServer({ routes, port: options.port, clock: systemClock, observe });
  let neededAt = systemClock.monotonic();
  let isEnding = false;
  const { promise: ended, resolve: end, reject } = Promise.withResolvers<void>();

  function run(command: Command): Refusal | null {
    switch (command.command) {
      case "register": {
        const { route } = command;
        return routes.register(route) ?? (route.door === undefined ? null : server.doors.open(route.door, route.key));
      }
      case "unregister":
        routes.unregister(command.key);
        server.doors.shut(command.key);
        return null;
      case "status":
        return null;
      case "stop":
        setImmediate(stop);
        return null;
      default:
        return { status: 400, code: "unknown-command", message: "There is no such command." };
    }
  }

  function stop(): void {
    if (isEnding) return;
    isEnding = true;
    clearInterval(looking);
    // Records first: closing connections would look as if the agents had left.
    const recorded = routes.close();
    Promise.all([recorded, server.close()])
      .then(() => control?.close())
      .then(end, reject);
  }

  const looking = setInterval(() => {
    const isNeeded = routes.status().length > 0 || (control?.connections ?? 0) > 0 || routes.open > 0;
    if (isNeeded) neededAt = systemClock.monotonic();
    const isForgotten = control?.isReachable() === false && routes.open === 0 && control.connections === 0;
    if (isForgotten || systemClock.monotonic() - neededAt > IDLE_MS) stop();
  }, LOOK_MS);

  try {
    control = await startControlServer({
      path: options.controlPath,
      status: () => ({ pid: process.pid, port: server.port, routes: routes.status() }),
      run,
      greetings: () => routes.outages(),
      changed: () => void (neededAt = systemClock.monotonic()),
    });
  } catch (error) {
    clearInterval(looking);
    await server.close();
    throw error;
  }
  return { port: server.port, ended, stop };
}
