/**
 * A real Chroma server, for tests that are run by hand: REEVE_TEST_CHROMA names a
 * directory with chromadb in its node_modules (CONTRIBUTING.md says which).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import type { LoopbackService } from "./loopback-service.ts";

/** Undefined: such tests are skipped. */
export const CHROMA = process.env["REEVE_TEST_CHROMA"];

/** It keeps its data in `directory`, also over a stop, which is a kill. */
export async function startChroma(directory: string): Promise<LoopbackService> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | null = null;

  async function start(): Promise<void> {
    const program = join(CHROMA ?? "", "node_modules", ".bin", "chroma");
    const words = ["run", "--path", join(directory, "chroma"), "--host", "127.0.0.1", "--port", String(port)];
    child = spawn(process.execPath, [program, ...words], { stdio: "ignore", cwd: directory });
    await eventually(
      "Chroma answers",
      () =>
        fetch(`${url}/api/v2/heartbeat`).then(
          ({ ok }) => ok,
          () => false,
        ),
      60_000,
    );
  }

  async function stop(): Promise<void> {
    const ending = child;
    child = null;
    if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = new Promise((resolve) => ending.once("exit", resolve));
    ending.kill("SIGKILL");
    await ended;
  }

  await start();
  return { url, start, stop };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
