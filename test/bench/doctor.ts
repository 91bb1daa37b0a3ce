/**
 * Target 21: `doctor` over HTTP for a session, with one healthy service, beside the
 * start of a Node that asks the service once, which has to be done where the session
 * lives; and with ten services that hang, which may take 6 s.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createBenchHome } from "./support/bench-home.ts";
import { timeProgram } from "./support/child.ts";
import { createHttpClient, followEvents } from "./support/http-client.ts";
import { alternate, atMost, compare, timed } from "./support/measure.ts";
import type { Scope } from "./support/scope.ts";
import type { Target } from "./support/target.ts";

const HANGING = 10;

interface Answer {
  readonly checks: readonly { readonly what: string; readonly verdict: string | null }[];
}

export const doctor: Target = {
  number: 21,
  title: "doctor",
  async measure({ scope, build, rounds, add }) {
    const home = createBenchHome(scope, build);
    await home.startDaemon();
    const client = createHttpClient(scope, home.socketPath);
    const events = await followEvents(scope, home.socketPath, 0);
    const { session_id: session } = await client.postJson<{ session_id: string }>("/v1/sessions", {
      agent: "command",
      args: ["sleep", "3600"],
      cwd: home.dir,
      environment: home.environment,
    });
    await events.arrival("session-running", session);
    const healthy = await listen(scope, (answer) => answer.end());
    const hanging = await listen(scope, () => undefined);
    const asks = `require("node:http").get("${healthy}", (answer) => answer.resume())`;
    const diagnose = (services: readonly string[]): Promise<Answer> =>
      client.postJson<Answer>("/v1/doctor", { session, services, cwd: home.dir, environment: home.environment });
    const samples = await alternate({ count: rounds(40, 10), warmUp: 3, pauseMs: 0 }, [
      async () => ({ node: await timeProgram(process.execPath, ["-e", asks], home.environment) }),
      async () => ({ doctor: await timed(async () => expectHealthy(await diagnose([`api=${healthy}`]))) }),
    ]);
    add(
      compare({
        target: 21,
        what: "a session with one service, by both routes",
        subject: samples("doctor"),
        baseline: samples("node"),
        baselineName: "a Node that asks it",
      }),
    );

    const services = Array.from({ length: HANGING }, (_, at) => `hangs${at}=${hanging}/${at}`);
    const slow = await alternate({ count: rounds(5, 2), warmUp: 0, pauseMs: 0 }, [
      async () => ({ node: await timeProgram(process.execPath, ["-e", asks], home.environment) }),
      async () => ({ doctor: await timed(() => diagnose(services)) }),
    ]);
    add(
      compare({
        target: 21,
        what: `${HANGING} services that hang`,
        subject: slow("doctor"),
        baseline: slow("node"),
        baselineName: "a Node that asks a healthy one",
        limit: atMost(6_000, "subject"),
      }),
    );
  },
};

/** Otherwise something else was measured. */
function expectHealthy({ checks }: Answer): void {
  const verdict = checks.find(({ what }) => what === "api")?.verdict;
  if (verdict !== "healthy") throw new Error(`doctor says of a healthy service: ${verdict}`);
}

async function listen(scope: Scope, answer: (response: { end(): void }) => void): Promise<string> {
  const server: Server = createServer((_request, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  scope.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
