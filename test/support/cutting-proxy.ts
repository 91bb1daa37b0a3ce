/** Between a client and the daemon: cuts one connection in its middle, at a byte of the test's choice. */
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Cut {
  readonly of: "request" | "answer";
  /** So many bytes of it are let through. */
  readonly after: number;
}

export interface CuttingProxy {
  readonly socketPath: string;
  /** The next connection is cut there, once. */
  cutNext(cut: Cut): void;
  /** Bytes of the last request and of its answer that were let through. */
  lengths(): { readonly request: number; readonly answer: number };
  isCutMade(): boolean;
  close(): Promise<void>;
}

export async function createCuttingProxy(target: string): Promise<CuttingProxy> {
  const directory = mkdtempSync(join(tmpdir(), "reeve-cut-"));
  const socketPath = join(directory, "cut.sock");
  const open = new Set<Socket>();
  let armed: Cut | null = null;
  let last = { request: 0, answer: 0 };

  const server = createServer((near) => {
    const far = connect(target);
    const cut = armed;
    armed = null;
    const passed = { request: 0, answer: 0 };
    last = passed;
    const destroyBoth = (): void => {
      near.destroy();
      far.destroy();
    };
    const pass = (of: Cut["of"], from: Socket, to: Socket): void => {
      open.add(from);
      from.on("data", (bytes: Buffer) => {
        const room = cut?.of === of ? cut.after - passed[of] : Number.POSITIVE_INFINITY;
        const part = bytes.subarray(0, Math.max(0, room));
        passed[of] += part.length;
        if (part.length < bytes.length || room === part.length) {
          if (part.length === 0) return destroyBoth();
          return void to.write(part, destroyBoth);
        }
        to.write(part);
      });
      from.on("error", destroyBoth);
      from.on("close", () => {
        open.delete(from);
        to.end();
      });
    };
    if (cut?.after === 0 && cut.of === "request") return destroyBoth();
    pass("request", near, far);
    pass("answer", far, near);
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return {
    socketPath,
    cutNext: (cut) => void (armed = cut),
    lengths: () => last,
    isCutMade: () => armed === null,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
