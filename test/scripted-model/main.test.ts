import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("main.ts", import.meta.url));

test.each(["SIGTERM", "SIGINT"] as const)(
  "says where it is, and ends on %s even while a request hangs",
  async (signal) => {
    const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    const ready = JSON.parse(line) as { url: string; pid: number };
    expect(ready).toEqual({ url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as unknown, pid: child.pid });
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "[[hang midway]]" }] });
    const hanging = await fetch(`${ready.url}/v1/messages`, { method: "POST", body });
    const dropped = expect(hanging.text()).rejects.toThrow("terminated");
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([0, null]);
    await dropped;
  },
);

test.each([
  [["--help"], 0],
  [["--port", "many"], 2],
  [["--port", "70000"], 2],
  [["--prot", "1"], 2],
  [["extra"], 2],
])("%j exits with %i and shows its usage", async (args, code) => {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let shown = "";
  child.stdout.on("data", (data: Buffer) => (shown += data.toString()));
  child.stderr.on("data", (data: Buffer) => (shown += data.toString()));
  expect(await once(child, "close")).toEqual([code, null]);
  expect(shown).toContain("Usage: reeve-scripted-model");
});
