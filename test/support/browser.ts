/**
 * A real browser for tests: Chromium without a window, driven through its
 * DevTools protocol over two pipes. Its profile is in a temporary directory,
 * and it ends with the test.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { eventually } from "./eventually.ts";

/** Null where none is installed. */
export function findBrowser(): string | null {
  for (const name of ["chromium", "chromium-browser", "google-chrome"])
    try {
      return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    } catch {
      continue;
    }
  return null;
}

export interface BrowserPage {
  /** What the page asked the network for, the page itself included. */
  readonly requests: readonly string[];
  /** Errors and violations that the browser reports. */
  readonly complaints: readonly string[];
  open(url: string): Promise<void>;
  evaluate<T>(expression: string): Promise<T>;
  /** With the mouse, in the middle of the first such element. */
  click(selector: string): Promise<void>;
  press(key: string, code: number): Promise<void>;
  type(text: string): Promise<void>;
  ask(method: string, params?: object): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

export async function openBrowser(program: string): Promise<BrowserPage> {
  const profile = mkdtempSync(join(tmpdir(), "reeve-browser-"));
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"];
  const quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync"];
  const child = spawn(
    program,
    [...flags, ...quiet, `--user-data-dir=${profile}`, "--remote-debugging-pipe", "about:blank"],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], detached: true },
  );
  const ended = new Promise((resolve) => child.on("close", resolve));
  const [to, from] = [child.stdio[3] as Writable, child.stdio[4] as Readable];
  const open = new Map<number, (answer: Answer) => void>();
  const requests: string[] = [];
  const complaints: string[] = [];
  let session: string | undefined;
  let last = 0;
  let rest = "";
  to.on("error", () => undefined);
  from.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\0");
    rest = parts.pop() ?? "";
    for (const part of parts) hear(JSON.parse(part) as Answer);
  });

  function hear(answer: Answer): void {
    if (answer.id !== undefined) return open.get(answer.id)?.(answer);
    const { method, params = {} } = answer;
    if (method === "Network.requestWillBeSent") requests.push((params["request"] as { url: string }).url);
    if (method === "Log.entryAdded") complaints.push((params["entry"] as { text: string }).text);
    if (method === "Runtime.exceptionThrown") complaints.push(JSON.stringify(params["exceptionDetails"]));
  }

  function ask(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = ++last;
    const message = { id, method, params, ...(session === undefined ? {} : { sessionId: session }) };
    return new Promise((resolve, reject) => {
      open.set(id, ({ result, error }) => {
        open.delete(id);
        if (error === undefined) resolve(result ?? {});
        else reject(new Error(`${method}: ${error.message}`));
      });
      to.write(`${JSON.stringify(message)}\0`);
    });
  }

  async function evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await ask("Runtime.evaluate", { expression, returnByValue: true });
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value: T }).value;
  }

  const { targetId } = await ask("Target.createTarget", { url: "about:blank" });
  session = (await ask("Target.attachToTarget", { targetId, flatten: true }))["sessionId"] as string;
  for (const domain of ["Page", "Network", "Runtime", "Log"]) await ask(`${domain}.enable`);
  requests.length = 0;

  return {
    requests,
    complaints,
    ask,
    evaluate,
    async open(url) {
      await ask("Page.navigate", { url });
      await eventually("the page is there", () =>
        evaluate<boolean>(`location.href === ${JSON.stringify(url)} && document.readyState === "complete"`),
      );
    },
    async click(selector) {
      const place = await evaluate<{ x: number; y: number }>(
        `(() => { const e = document.querySelector(${JSON.stringify(selector)}); e.scrollIntoView({ block: "center" }); const r = e.getBoundingClientRect(); return { x: r.x + r.width / 2, y: r.y + r.height / 2 }; })()`,
      );
      for (const type of ["mousePressed", "mouseReleased"])
        await ask("Input.dispatchMouseEvent", { ...place, type, button: "left", clickCount: 1 });
    },
    async press(key, code) {
      const common = { key, code: key, windowsVirtualKeyCode: code, ...(key === "Enter" ? { text: "\r" } : {}) };
      await ask("Input.dispatchKeyEvent", { ...common, type: "keyDown" });
      await ask("Input.dispatchKeyEvent", { ...common, type: "keyUp" });
    },
    type: async (text) => void (await ask("Input.insertText", { text })),
    async close() {
      session = undefined;
      // It closes the pipe instead of an answer.
      void ask("Browser.close").catch(() => undefined);
      const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"), 10_000);
      await ended;
      clearTimeout(timer);
      rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}
