/** Views of a session's terminal: exact, for several at once, each at its own pace. */
import { expect, it } from "vitest";
import { stripTerminal } from "../../src/platform/terminal-text.ts";
import type { Terminal, TerminalEvent, TerminalOutput } from "../../src/runtime/terminal.ts";
import { eventually } from "../support/eventually.ts";
import { first, type Ground, second } from "./runtime-ground.ts";

/** Reads on by itself, and keeps what it read. */
class Viewer {
  readonly pieces: TerminalOutput[] = [];
  isOver = false;

  readonly terminal: Terminal;

  constructor(terminal: Terminal) {
    this.terminal = terminal;
    void this.#read();
  }

  async #read(): Promise<void> {
    for await (const piece of this.terminal.output) this.pieces.push(piece);
    this.isOver = true;
  }

  /** What its terminal has been sent since it was last shown the whole screen. */
  sinceSnapshot(): string {
    const from = this.pieces.findLastIndex(({ type }) => type === "snapshot");
    return from < 0 ? "" : Buffer.concat(this.pieces.slice(from).map(({ bytes }) => bytes)).toString();
  }

  shows(text: string): Promise<unknown> {
    return eventually(`it shows ${text}`, () => stripTerminal(this.sinceSnapshot()).includes(text));
  }
}

export function testViews(ground: Ground): void {
  const { shell, exists, written } = ground;
  const view = async (): Promise<Viewer> => new Viewer(await ground.runtime.openTerminal(first));

  it("shows the screen with its colours, and then what comes", async () => {
    const script =
      "printf '\\033[31mred\\033[0m then \\033[1mbold\\033[0m> '; touch up; read x; echo and on; sleep 100";
    await ground.runtime.create(shell(first, script));
    await eventually("it is drawn", () => exists("up"));
    const viewer = await view();
    await viewer.shows("red then bold>");
    expect(viewer.sinceSnapshot()).toMatch(/\u001b\[31mred.*\u001b\[(?:0;)?1mbold/);
    await viewer.terminal.write(Buffer.from("\r"));
    await viewer.shows("and on");
    expect(viewer.pieces.map(({ type }) => type).filter((type) => type === "snapshot")).toHaveLength(1);
    viewer.terminal.close();
    await eventually("it is over", () => viewer.isOver);
  });

  it("leaves nothing out between the screen and what follows, and tells nothing twice", async () => {
    await ground.runtime.create(
      shell(first, 'read x; i=0; while [ $i -lt 9000 ]; do i=$((i+1)); echo "n$i."; done; sleep 100'),
    );
    const before = await view();
    await before.terminal.write(Buffer.from("\r"));
    const viewers = [before, ...(await Promise.all([view(), view()]))];
    for (const viewer of viewers) {
      await viewer.shows("n9000.");
      const numbers = [...stripTerminal(viewer.sinceSnapshot()).matchAll(/n(\d+)\./g)].map(([, number]) =>
        Number(number),
      );
      expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => 9_001 - numbers.length + index));
      viewer.terminal.close();
    }
  });

  it("types every byte as it is, in order", async () => {
    const odd = Buffer.from([...Array.from({ length: 256 }, (_, index) => index), ...Buffer.from("é漢🙂")]);
    const size = odd.length * 12;
    await ground.runtime.create(
      shell(first, `stty raw -echo; touch up; head -c ${size} | od -An -v -tx1 > got; mv got done; sleep 100`),
    );
    await eventually("it reads", () => exists("up"));
    const [one, other] = [await view(), await view()];
    await Promise.all(Array.from({ length: 12 }, () => one.terminal.write(odd)));
    expect((await written("done")).replaceAll(/\s/g, "")).toBe(odd.toString("hex").repeat(12));
    one.terminal.close();
    other.terminal.close();
  });

  it("has the size that the last one asked for, and tells the others", async () => {
    await ground.runtime.create(shell(first, "while read x; do stty size; done"));
    const [one, other] = [await view(), await view()];
    await one.terminal.resize({ columns: 93, rows: 31 });
    for (const viewer of [one, other])
      await eventually("both are shown the screen again", () =>
        viewer.pieces.some((piece) => piece.type === "snapshot" && piece.size.columns === 93 && piece.size.rows === 31),
      );
    await other.terminal.write(Buffer.from("\r"));
    await one.shows("31 93");
    one.terminal.close();
    other.terminal.close();
  });

  it("shows one that fell behind the screen again instead of all it missed", async () => {
    await ground.runtime.create(
      shell(first, "read x; yes 0123456789abcdef | head -c 6000000; echo; echo LAST; touch up; sleep 100"),
    );
    const idle = await ground.runtime.openTerminal(first);
    const pieces = idle.output[Symbol.asyncIterator]();
    expect((await pieces.next()).value).toMatchObject({ type: "snapshot" });
    await idle.write(Buffer.from("\r"));
    await eventually("all was printed", () => exists("up"), 20_000);
    const watching = await view();
    await watching.shows("LAST");
    let read = 0;
    let shown = "";
    while (!shown.includes("LAST")) {
      const piece = (await pieces.next()).value as TerminalOutput;
      if (piece.type === "snapshot") shown = "";
      shown = (shown + piece.bytes.toString()).slice(-100_000);
      read += piece.bytes.length;
    }
    expect(read).toBeLessThan(3_000_000);
    idle.close();
    watching.terminal.close();
  });

  it("is followed from before its start: every byte, every size, and the screen where it was asked for", async () => {
    const events: TerminalEvent[] = [];
    const following = ground.runtime.follow(first, (event) => events.push(event));
    const script = "printf 'a\\033[31mb'; while read x; do stty size; done";
    await ground.runtime.create(shell(first, script));
    const text = (): string =>
      Buffer.concat(events.flatMap((event) => (event.type === "bytes" ? event.bytes : []))).toString();
    const sizes = (): string[] =>
      events.flatMap((event) => (event.type === "resized" ? `${event.size.rows} ${event.size.columns}` : []));
    await eventually("it was heard from its first byte, and its size", () => text() !== "" && sizes().length === 1);
    expect(text()).toMatch(/^a\u001b\[31mb/);
    const viewer = await view();
    await viewer.terminal.resize({ columns: 93, rows: 31 });
    await viewer.terminal.write(Buffer.from("\r"));
    await eventually("it has the size", () => text().includes("31 93"));
    const at = events.findIndex((event) => event.type === "bytes" && event.bytes.includes("31 93"));
    const resizedAt = events.findIndex((event) => event.type === "resized" && event.size.columns === 93);
    expect(resizedAt).toBeGreaterThan(-1);
    expect(resizedAt).toBeLessThan(at);
    expect(events.some(({ type }) => type === "snapshot")).toBe(false);
    following.repaint();
    const snapshot = await eventually("it is shown", () => events.find(({ type }) => type === "snapshot"));
    expect(snapshot).toMatchObject({ size: { columns: 93, rows: 31 } });
    following.stop();
    await viewer.terminal.write(Buffer.from("\r"));
    const heard = events.length;
    // Twice: on the screen that it was shown after the resize, or in what followed.
    await eventually("it shows both", () => stripTerminal(viewer.sinceSnapshot()).split("31 93").length > 2);
    expect(events).toHaveLength(heard);
    viewer.terminal.close();
  });

  it("ends with the process, and there is none to open without one", async () => {
    await ground.runtime.create(shell(first, "read x; exit 3"));
    const [one, other] = [await view(), await view()];
    await one.shows("");
    await one.terminal.write(Buffer.from("\r"));
    await eventually("both are over", () => one.isOver && other.isOver);
    await expect(one.terminal.write(Buffer.from("x"))).rejects.toMatchObject({ kind: "conflict" });
    await expect(ground.runtime.openTerminal(first)).rejects.toMatchObject({ code: "not-running" });
    await expect(ground.runtime.openTerminal(second)).rejects.toMatchObject({ kind: "conflict" });
  });
}
