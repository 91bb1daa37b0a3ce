/**
 * Runs where a session lives, perhaps inside its agent's sandbox or a container: one line of JSON comes in (what to try,
 * and with which environment), one goes out. It ends by itself, whatever hangs.
 */
import { probeAll, type ProbeEnvironment, type ProbeRequest } from "./platform/probe.ts";

const GRACE_MS = 500;

interface Order {
  readonly requests: readonly ProbeRequest[];
  readonly limitMs: number;
  readonly environment: ProbeEnvironment;
}

let text = "";
process.stdin.setEncoding("utf8");
for await (const chunk of process.stdin) {
  text += String(chunk);
  if (text.includes("\n")) break;
}
const order = JSON.parse(text) as Order;
setTimeout(() => process.exit(3), order.limitMs + GRACE_MS).unref();
const report = await probeAll(order.requests, order);
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
