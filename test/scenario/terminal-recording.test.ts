/** The recording of a session's terminal, with real tmux, and played by Debian's asciinema. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stripControls } from "../../src/platform/terminal-text.ts";
import { eventually } from "../support/eventually.ts";
import { filesHolding } from "../support/files-holding.ts";
import { inHome } from "../support/in-home.ts";
import { openTerminal } from "../support/person-terminal.ts";
import { castOf, catRecording, playRecording } from "../support/played-recording.ts";
import type { TestHome } from "../support/test-home.ts";
import { runProgram } from "../support/test-home.ts";

const CANARY = "c4n4ry-7f3a91d2e8b64c05a1-end";
const REEVE = join(import.meta.dirname, "../../bin/reeve");
const SIZE = { columns: 200, rows: 50 };

/** Runs the shell script and says where its terminal is recorded. */
async function record(home: TestHome, script: string, ...options: readonly string[]): Promise<string> {
  const { session_id: id } = await home.json<{ session_id: string }>(
    "start",
    "command",
    "--name",
    "worker",
    "--cwd",
    home.dir,
    "--persist-session",
    ...options,
    "--",
    "sh",
    "-c",
    script,
  );
  const found = readdirSync(join(home.dir, "outputs", "agents"), { recursive: true, encoding: "utf8" });
  const directory = found.find((path) => path.endsWith(id)) ?? "";
  return join(home.dir, "outputs", "agents", directory, "terminal.cast");
}

const recorded = (path: string): string =>
  existsSync(path)
    ? castOf(path)
        .events.map(([, code, data]) => (code === "o" ? data : ""))
        .join("")
    : "";

async function screen(home: TestHome, ...options: readonly string[]): Promise<string> {
  const { session_id: id } = await home.session("worker");
  const args = ["-S", home.tmuxSocket, "capture-pane", "-p", "-t", `=${id}:`, ...options];
  return (await runProgram("tmux", args, home.environment)).stdout;
}

/** Colours, wide and combining characters, wrapped lines, a scrolled region, the alternate screen. */
const DRAWING = [
  "\u001b[1;31mred\u001b[0m \u001b[48;2;10;20;30mback\u001b[m \u001b[4;38;5;208munder\u001b[m\r\n",
  "漢字 wide 🙂 e\u0301 ß\r\n",
  `${"wrapped ".repeat(40)}\r\n`,
  "\u001b]0;a title\u0007\u001b]8;;http://example.org\u001b\\link\u001b]8;;\u001b\\\r\n",
  ...Array.from({ length: 60 }, (_, index) => `line ${index}\r\n`),
  "\u001b[?1049h\u001b[2J\u001b[H┌──────┐\u001b[2;1H│ 漢 ok │\u001b[3;1H└──────┘\u001b[10;20H\u001b[7mmenu\u001b[m\u001b[5;10r\u001b[5;1Hone\r\ntwo\r\nthree\r\n\u001b[r\u001b[20;1H",
].join("");

test.concurrent("asciinema gives what the terminal got, byte for byte, and shows the same screen", () =>
  inHome("", async (home) => {
    writeFileSync(join(home.dir, "drawing"), DRAWING);
    const path = await record(home, "stty raw -echo; cat drawing; printf DONE!; sleep 600");
    // With a mark that begins no secret: a last letter that may begin one is held back until more comes.
    await eventually("it is recorded", () => recorded(path).endsWith("DONE!"));
    expect(castOf(path).header).toMatchObject({ version: 2, width: 200, height: 50, title: "worker" });
    expect(await catRecording(home, path)).toBe(`${DRAWING}DONE!`);
    expect(await playRecording(home, path, SIZE)).toBe(await screen(home, "-e"));
  }));

test.concurrent("the daemon is killed in the middle: the file can be played at once, and the next one goes on with the screen", () =>
  inHome("", async (home) => {
    const line = 'i=$((i+1)); printf "\\033[3%dmn$i.\\033[m\\r\\n" $((i%8))';
    // A pause after some lines: a flood without an end would be read again and again by this test.
    const loop = `i=0; while [ ! -e stop ]; do ${line}; [ $((i%100)) -ne 0 ] || sleep 0.02; done`;
    const path = await record(home, `${loop}; printf LAST!; sleep 600`);
    await eventually("it is recorded", () => recorded(path).includes("n500."));
    await home.killDaemon();
    await playRecording(home, path, SIZE).catch(() => {
      // A line that was cut off is the last one; the next daemon removes it.
      const text = readFileSync(path, "utf8");
      expect(text.endsWith("\n")).toBe(false);
      for (const line of text.split("\n").slice(0, -1)) JSON.parse(line);
    });
    await home.daemonPid();
    await eventually("it goes on", () => castOf(path).events.some(([, code]) => code === "m"));
    writeFileSync(join(home.dir, "stop"), "");
    await eventually("the rest is recorded", () => recorded(path).includes("LAST"));
    const { events } = castOf(path);
    expect(events.filter(([, code]) => code === "m").map(([, , data]) => data)).toEqual([
      expect.stringMatching(/^not recorded for \d+ s: Reeve did not run$/),
    ]);
    const times = events.map(([seconds]) => seconds);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(await playRecording(home, path, SIZE)).toBe(await screen(home, "-e"));
  }));

test.concurrent("a person who attaches changes its size; a session that is started again goes on in the file", () =>
  inHome("", async (home) => {
    const path = await record(
      home,
      "stty -echo; echo up!; while read line; do echo $(stty size)!; done",
      "--restart",
      "never",
    );
    await eventually("it is recorded", () => recorded(path).includes("up"));
    const person = await openTerminal(home, `'${REEVE}' attach worker`, { columns: 90, rows: 31 });
    await eventually("somebody is attached", async () => (await person.screen()).includes("worker ("));
    await person.press("Enter");
    const size = await eventually("it has another size", () => /(\d+) 90!/.exec(recorded(path))?.[1]);
    const codes = castOf(path).events.map(([, code, data]) => `${code} ${data}`);
    const resizedAt = codes.indexOf(`r 90x${size}`);
    expect(resizedAt).toBeGreaterThan(-1);
    expect(resizedAt).toBeLessThan(codes.findIndex((event) => event.startsWith(`o ${size} 90`)));
    await person.close();
    await home.json("restart", "worker");
    await home.json("send", "worker", "again");
    await eventually("the next one is recorded", () => /\u001bc.*\d+ \d+!/s.test(recorded(path)));
    expect(castOf(path).events.find(([, code]) => code === "m")?.[2]).toBe("start 2");
  }));

test.concurrent("a secret is in no file, however it is drawn", () =>
  inHome("", async (home) => {
    const script = String.raw`
      stty raw -echo
      printf 'plain %s\r\n' "$API_TOKEN"
      printf '%s' "$API_TOKEN" | sed 's/./\x1b[3;5m&\x1b[m\x1b[1C\x1b[1D/g'; printf '\r\n'
      printf '\033]0;%s\007\033]52;c;%s\007' "$API_TOKEN" "$(printf '%s' "$API_TOKEN" | base64)"
      printf '%0185d%s\r\n' 0 "$API_TOKEN"
      n=1; while [ $n -lt ${CANARY.length} ]; do
        printf 'is %s' "$(printf '%s' "$API_TOKEN" | cut -c1-$n)"; sleep 0.01
        printf '\033[1m%s\033[m.\r\n' "$(printf '%s' "$API_TOKEN" | cut -c$((n+1))-)"; n=$((n+1))
      done
      printf 'DONE \r\n.'; sleep 600`;
    const path = await record(home, script, "--env", `API_TOKEN=${CANARY}`);
    await eventually("it is recorded", () => recorded(path).includes("DONE"));
    const shown = stripControls(recorded(path));
    for (let from = 0; from + 12 <= CANARY.length; from += 1)
      expect(shown).not.toContain(CANARY.slice(from, from + 12));
    expect(shown.match(/is \[redacted[^\]]*\]\./g)).toHaveLength(CANARY.length - 1);
    expect(recorded(path)).not.toContain(Buffer.from(CANARY).toString("base64").slice(0, 12));
    expect(recorded(path)).toMatch(/\u001b\]0;\[redacted[^\]]*\]\u0007/);
    expect(filesHolding(home.dir, [CANARY])).toEqual([]);
  }));

test.concurrent("without --persist-session nothing is recorded", () =>
  inHome("", async (home) => {
    await home.json(
      "start",
      "command",
      "--name",
      "worker",
      "--cwd",
      home.dir,
      "--",
      "sh",
      "-c",
      "echo DONE; sleep 600",
    );
    await eventually("it ran", async () => (await screen(home)).includes("DONE"));
    await home.json("end", "worker", "--when", "now");
    const files = readdirSync(join(home.dir, "outputs"), { recursive: true, encoding: "utf8" });
    expect(files.filter((file) => file.includes("terminal.cast"))).toEqual([]);
  }));
