/** What is secret reaches no file of Reeve's, and what is sent arrives as it was sent. */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { filesHolding } from "../support/files-holding.ts";
import { inHome } from "../support/in-home.ts";
import type { TestHome } from "../support/test-home.ts";
import { runProgram } from "../support/test-home.ts";

const CANARY = "c4n4ry-7f3a91d2e8b64c05a1-end";

/** Every file below the home that holds one of these texts, or a piece of it. */
function hits(home: TestHome, texts: readonly string[], except: readonly string[] = []): readonly string[] {
  return filesHolding(home.dir, texts).filter((path) => !except.includes(path));
}

function entriesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).map((entry) =>
    join(entry.parentPath, entry.name),
  );
}

/** Prints the hash of each line it is given, and nothing else. */
const HASHER = `stty -echo; printf 'ready>'; while IFS= read -r line; do printf '%s' "$line" | sha256sum; printf 'ready>'; done`;

const sha = (text: string): string => createHash("sha256").update(text).digest("hex");

async function screenShows(home: TestHome, name: string, text: string): Promise<void> {
  await eventually(`${name} shows ${text}`, async () =>
    (await home.json<{ text: string }>("data", name)).text.includes(text),
  );
}

test.concurrent("an --env value repeated in a message is on no disk, also while it waits, and arrives whole", () =>
  inHome("", async (home) => {
    await home.json(
      "start",
      "command",
      "--name",
      "hasher",
      "--env",
      `API_TOKEN=${CANARY}`,
      "--env",
      "PIN=h7x2",
      "--",
      "sh",
      "-c",
      HASHER,
    );
    await screenShows(home, "hasher", "ready>");
    const first = `use ${CANARY} and h7x2, then ${CANARY}`;
    expect(await home.json("send", "hasher", first)).toMatchObject({ state: "delivered" });
    await screenShows(home, "hasher", sha(first));

    await home.json("pause", "hasher");
    const second = `again: ${CANARY}`;
    expect(await home.json("send", "hasher", second, "--timeout", "0")).toMatchObject({ state: "admitted" });
    expect(hits(home, [CANARY, "h7x2"])).toEqual([]);
    await home.killDaemon();
    await home.json("resume", "hasher");
    await screenShows(home, "hasher", sha(second));
    await home.json("end", "hasher");
    await home.json("daemon", "stop");
    expect(hits(home, [CANARY, CANARY.slice(0, 16), CANARY.slice(-16), "h7x2"])).toEqual([]);
  }));

test.concurrent("nor in a prompt, nor from an env file, for an agent that takes prompts", () =>
  inHome("", async (home) => {
    writeFileSync(join(home.dir, "secrets.env"), `FROM_FILE=${CANARY}\n`);
    await home.json(
      "start",
      "practice",
      "--name",
      "practice",
      "--env-file",
      join(home.dir, "secrets.env"),
      `Say ${CANARY} please`,
    );
    await eventually(
      "its turn is over",
      async () => (await askSession(home, "practice"))?.["last_turn"] === "completed",
    );
    const session = await home.session("practice");
    const { transcript_path } = session["observability"] as { transcript_path: string };
    expect(readFileSync(transcript_path, "utf8")).toContain(CANARY);
    await home.json("end", "practice");
    await home.json("daemon", "stop");
    // Its own transcript and the user's own file are not Reeve's.
    expect(hits(home, [CANARY], [transcript_path, join(home.dir, "secrets.env")])).toEqual([]);
  }));

test.concurrent("wrapped at the edge of the screen, in connection strings and by its shape", () =>
  inHome("", async (home) => {
    const shaped = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
    const script = `
      printf '%0190d%s\\n' 0 "$API_TOKEN"
      printf '%0185d' 0; printf '%s' "$API_TOKEN" | cut -c1-10 | tr -d '\\n'; sleep 0.5; printf '%s\\n' "$API_TOKEN" | cut -c11-
      echo "connecting to $DATABASE_URL with s3cr3tpw"
      printf '%0180d %s\\n' 0 "${shaped}"
      sleep 300`;
    const started = await home.run(
      ["start", "command", "--name", "printer", "--env", `API_TOKEN=${CANARY}`, "--json", "--", "sh", "-c", script],
      { environment: { DATABASE_URL: "postgres://app:s3cr3tpw@db.example:5432/app" } },
    );
    expect(started.status).toBe(0);
    await screenShows(home, "printer", "db.example");
    await eventually("the last line is there", async () =>
      (await home.json<{ text: string }>("data", "printer")).text.includes(shaped.slice(-10)),
    );
    const directory = String((await home.session("printer"))["outputs_dir"]);
    await home.json("end", "printer", "--when", "now", "--grace", "0");
    const kept = readFileSync(join(directory, "screen.txt"), "utf8");
    expect(kept).toContain("connecting to");
    const pieces = [CANARY.slice(0, 10), CANARY.slice(-12), "s3cr3tpw", shaped.slice(4, 16), shaped.slice(-12)];
    // The script itself is a part of the record, and holds the shape.
    const others = hits(home, pieces).filter((path) => !/state\.json$|reeve\.db/.test(path));
    expect(others).toEqual([]);
    expect(hits(home, [CANARY, "s3cr3tpw"]).filter((path) => !/state\.json$|reeve\.db/.test(path))).toEqual([]);
    expect(readFileSync(join(directory, "output.log"), "utf8")).toContain("[redacted]");
  }));

test.concurrent("over three lines, with wide characters and blanks at the edge, next to what stays readable", () =>
  inHome("", async (home) => {
    const long = Array.from({ length: 45 }, (_, index) => `piece${100 + index}xy`).join("");
    const wide = "日本語のパスワード-十六文字";
    // A word that Reeve's own code does not have: Node keeps a part of that below the home.
    const phrase = "korrekt horse battery staple";
    const commit = "7b168c3f0d1e2a4b5c6d7e8f9a0b1c2d3e4f5a6b";
    // Each begins so that the edge of the screen, at 200 columns, is at another of its characters.
    const script = `
      printf '%0150d%s\\n' 0 "$LONG"
      for at in 180 181 182 183 184 185 186 187 188 189 190; do printf '%0'$at'd%s\\n' 0 "$WIDE"; done
      for at in 175 180 181 187 188 192; do printf '%0'$at'd%s\\n' 0 "$PHRASE"; done
      echo "commit ${commit} in $PWD on port $PORT by $OWNER"; echo all is printed; sleep 300`;
    const given = { LONG: long, WIDE: wide, PHRASE: phrase, PORT: "3000", OWNER: "somebody" };
    const options = Object.entries(given).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
    const started = await home.run(
      ["start", "command", "--name", "printer", ...options, "--json", "--", "sh", "-c", script],
      { environment: { USER: "somebody" } },
    );
    expect(started.status).toBe(0);
    await screenShows(home, "printer", "all is printed");
    const directory = String((await home.session("printer"))["outputs_dir"]);
    await home.json("end", "printer", "--when", "now", "--grace", "0");
    await home.json("daemon", "stop");
    for (const name of ["screen.txt", "output.log"]) {
      const kept = readFileSync(join(directory, name), "utf8");
      expect(kept).toContain(`commit ${commit} in /`);
      expect(kept).toContain("on port 3000 by somebody");
    }
    expect(hits(home, ["piece1", "日本", "文字", "ワード", "korrekt", "battery", "staple"])).toEqual([]);
  }));

test.concurrent("everything below a used home is private, whatever the caller's umask is", () =>
  inHome("", async (home) => {
    const reeve = (...args: readonly string[]) =>
      runProgram(
        "sh",
        ["-c", 'umask 000; exec "$@"', "sh", join(import.meta.dirname, "..", "..", "bin", "reeve"), ...args],
        home.environment,
      );
    expect((await reeve("start", "practice", "--name", "one", "Say hello")).status).toBe(0);
    expect(
      (await reeve("start", "command", "--name", "two", "--", "sh", "-c", "umask 077; exec sleep 300")).status,
    ).toBe(0);
    await eventually("its turn is over", async () => (await askSession(home, "one"))?.["last_turn"] === "completed");
    await reeve("send", "one", "Say hello again");
    await home.killDaemon();
    await reeve("list");
    await reeve("restart", "two");
    await reeve("end", "one", "--when", "now");
    const open = (): readonly string[] =>
      entriesBelow(home.dir)
        .flatMap((path) => {
          const about = lstatSync(path, { throwIfNoEntry: false });
          return about === undefined ? [] : [{ path, about }];
        })
        .filter(({ about }) => !about.isSymbolicLink() && (about.mode & 0o077) !== 0)
        .filter(({ path }) => !path.endsWith("config.toml"))
        .map(({ path, about }) => `${path.slice(home.dir.length)} ${(about.mode & 0o777).toString(8)}`);
    expect(open()).toEqual([]);
    await home.json("daemon", "stop");
    expect(open()).toEqual([]);
  }));
