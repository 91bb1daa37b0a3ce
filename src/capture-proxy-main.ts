/**
 * The program of the capture proxy; capture/proxy/contract.ts says how it is
 * started and what it prints. It puts the proxy and the agents' knowledge of
 * responses together, as daemon.ts does for the daemon.
 */
import { parseArgs } from "node:util";
import { readResponseUsage as readClaude } from "./agent/claude/response-usage.ts";
import { readResponseUsage as readCodex } from "./agent/codex/response-usage.ts";
import { readResponseUsage as readGemini } from "./agent/gemini/response-usage.ts";
import { type CaptureProxy, startCaptureProxy } from "./capture/proxy/capture-proxy.ts";
import { AlreadyRunning } from "./capture/proxy/control-server.ts";
import { errnoOf, messageOf } from "./platform/reeve-error.ts";

const { values } = parseArgs({ options: { control: { type: "string" }, port: { type: "string", default: "0" } } });

// Nobody may read it, and that must not end the proxy.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

const proxy = await start();
if (proxy !== null) {
  say({ port: proxy.port, pid: process.pid });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => proxy.stop());
  // The terminal of whoever started the daemon is not the proxy's.
  process.on("SIGHUP", () => undefined);
  // One exchange's trouble must not cut the others. What it was is in the file that the daemon gave as stderr.
  process.on("uncaughtException", (error) => console.error(error));
  await proxy.ended;
  process.exit(0);
}

async function start(): Promise<CaptureProxy | null> {
  try {
    return await startCaptureProxy({
      controlPath: values.control ?? "",
      port: Number(values.port),
      readUsage: (event) => readCodex(event) ?? readClaude(event) ?? readGemini(event),
    });
  } catch (error) {
    say({ error: { code: codeOf(error), message: messageOf(error) } });
    process.exitCode = 1;
    return null;
  }
}

function codeOf(error: unknown): string {
  if (error instanceof AlreadyRunning) return "already-running";
  return errnoOf(error) === "EADDRINUSE" ? "port-taken" : "cannot-listen";
}

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
