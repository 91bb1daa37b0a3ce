/** The script with small programs in the place of Codex and the bootstrap. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { paneScript } from "./pane-script.ts";

/** As server: serves until it is ended, `quits` at once, or is deaf to SIGTERM. As TUI: writes down its arguments, then ends or waits. */
const CODEX = `#!/bin/sh
dir=\${0%/*}
if [ "$1" = app-server ]; then
  [ -e "$dir/quits" ] && { echo "Error: no such setting" >&2; exit 1; }
  [ -e "$dir/deaf" ] && trap '' TERM
  echo $$ >"$dir/serves"
  for i in $(seq 200); do sleep 0.05; done
  exit 0
fi
printf '<%s>' "$@" >"$dir/arguments"
[ -e "$dir/stays" ] && exec sleep 10
exit 7
`;
const BOOTSTRAP = `#!/bin/sh
dir=\${0%/*}
for i in $(seq 100); do [ -s "$dir/serves" ] && exec cat "$dir/answer"; sleep 0.05; done
exit 1
`;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "reeve-pane-"));
  for (const [name, text] of [
    ["codex", CODEX],
    ["bootstrap", BOOTSTRAP],
  ] as const) {
    await writeFile(join(dir, name), text);
    await chmod(join(dir, name), 0o700);
  }
  await writeFile(join(dir, "answer"), "the-thread prompt\n");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

interface Ended {
  readonly status: number | null;
  readonly output: string;
}

async function run(prompt: string | null, during: () => Promise<void> = () => Promise.resolve()): Promise<Ended> {
  const script = paneScript({
    codex: join(dir, "codex"),
    socket: join(dir, "s.sock"),
    sessionDir: dir,
    serverArgs: ["-c", "a='b'"],
    tuiArgs: ["--no-alt-screen"],
    bootstrap: [join(dir, "bootstrap")],
    prompt,
  });
  await writeFile(join(dir, "codex-pane.sh"), script);
  const child = spawn("/bin/sh", [join(dir, "codex-pane.sh")], { stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  await during();
  return { status: await ended, output };
}

async function pidIn(name: string): Promise<number> {
  while (!existsSync(join(dir, name)) || (await readFile(join(dir, name), "utf8")) === "") await pause();
  return Number(await readFile(join(dir, name), "utf8"));
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

test("the TUI gets thread and prompt, its status is the script's, and the server is ended", async () => {
  let server = 0;
  const { status } = await run("it's -- \n me", async () => void (server = await pidIn("serves")));
  expect(status).toBe(7);
  expect(await readFile(join(dir, "arguments"), "utf8")).toBe(
    `<resume><--remote><unix://${dir}/s.sock><--no-alt-screen><--><the-thread><it's -- \n me>`,
  );
  expect(isAlive(server)).toBe(false);
  expect((await readdir(dir)).filter((name) => name.endsWith(".pid"))).toEqual([]);
});

test("a prompt that has been taken is not given again", async () => {
  await writeFile(join(dir, "answer"), "the-thread -\n");
  await run("again");
  expect(await readFile(join(dir, "arguments"), "utf8")).toMatch(/<--><the-thread>$/);
});

test("a server that does not start ends the pane, and says why", async () => {
  await writeFile(join(dir, "quits"), "");
  const { status, output } = await run(null);
  expect(status).toBe(1);
  expect(output).toContain("Error: no such setting");
});

test("a server that is killed takes the TUI with it", async () => {
  await writeFile(join(dir, "stays"), "");
  let tui = 0;
  const { status } = await run(null, async () => {
    while (!existsSync(join(dir, "arguments"))) await pause();
    tui = await pidIn("codex-tui.pid");
    process.kill(await pidIn("serves"), "SIGKILL");
  });
  expect(status).toBe(143);
  expect(isAlive(tui)).toBe(false);
});

test("a server that is deaf is killed", async () => {
  await writeFile(join(dir, "deaf"), "");
  let server = 0;
  const { status } = await run(null, async () => void (server = await pidIn("serves")));
  expect(status).toBe(7);
  expect(isAlive(server)).toBe(false);
}, 15_000);
