/** For tests: a persisted session with all its files, and archives of it. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { redact } from "../../capture/redaction.ts";
import type { TranscriptMessage } from "../../agent/contract.ts";
import { localFiles } from "../../runtime/local-files.ts";
import type { Amendment } from "../../session/amend.ts";
import type { Session } from "../../session/session.ts";
import { asLines, at, event, exchange, line, NOON } from "../../session/story/story-fixture.ts";
import { makeSession } from "../../store/store-fixture.ts";
import { readStory, type Story } from "./read-story.ts";
import { type Written, writeArchive } from "./write-archive.ts";

export const SECRET = "s3cr3t-value-of-this-test-0001";

export interface ArchiveGround {
  readonly root: string;
  readonly outputs: string;
  readonly session: Session;
  readonly directory: string;
  story(told?: Session): Promise<Story>;
  archive(path: string): Promise<Written>;
  remove(): void;
}

/** One message a line, as the fixture writes them. */
function readMessages(lines: readonly string[]): readonly TranscriptMessage[] {
  return lines.map((text) => ({
    tool: null,
    usage: null,
    turn: null,
    ...(JSON.parse(text) as Pick<TranscriptMessage, "role" | "text" | "at">),
  }));
}

const EVENTS = [
  event(1, 0, "session-planned", { agent: "practice", role: "worker" }, "operator"),
  event(2, 10, "turn-started", { turn: 1 }),
  event(5, 20, "turn-completed", { turn: 1 }),
];

export function makeGround(changes: Amendment = {}): ArchiveGround {
  const root = mkdtempSync(join(tmpdir(), "reeve-archive-"));
  const outputs = join(root, "outputs");
  mkdirSync(outputs, { mode: 0o700 });
  const native = join(root, "native-transcript.jsonl");
  const base = makeSession({ outputsRoot: outputs }, "abcdefghjk", changes);
  const session: Session = {
    ...base,
    watch: {
      ...base.watch,
      observability: { status: "observable", expected: true, reason: "there", transcriptPath: native },
    },
  };
  const directory = session.identity.outputsDir;
  const put = (name: string, content: string | Buffer): void => {
    mkdirSync(join(directory, name, ".."), { recursive: true, mode: 0o700 });
    writeFileSync(join(directory, name), content);
  };
  writeFileSync(
    native,
    asLines([
      { role: "user", text: "run the tests", at: at(9) },
      { role: "assistant", text: `</script><script>window.planted = 1</script> ${SECRET}`, at: at(12) },
      { role: "assistant", text: `quoted " ${SECRET}`, at: at(13) },
    ]),
  );
  put("state.json", "{}\n");
  put("output.log", "out\n");
  put("session.log", asLines([line(2, 10, 110, "turn-started", { data: { turn: 1 } })]));
  put(
    "session_meta.log",
    `${asLines([line(3, 13, 113, "model-changed", { actor: "operator", turn: 1, from: "a", to: "b" })])}{"v":1,"se\n`,
  );
  put("session_oai_raw.log.1", asLines(exchange("1", 1, 11, 111)));
  put(
    "session_oai_raw.log",
    asLines(exchange("2", 5, 15, 115, { status: 500, response: "<img src=x onerror=alert(1)>" })),
  );
  put(
    "terminal.cast",
    `{"version":2,"width":80,"height":24}\n[0.1,"o","\\u001b[31mhello\\u001b[0m\\r\\n"]\n[1.5,"o","world\\r\\n"]\n`,
  );
  put("runtime.json", "{}\n");
  put("debug.log", `the agent logs ${SECRET} here\n`);
  put("notes/extra.txt", "a file of the agent's\n");
  put("spool/hook.json", SECRET);
  put("native/request.json", SECRET);
  symlinkSync(native, join(directory, "transcript.jsonl"));
  symlinkSync("/etc/passwd", join(directory, "planted.txt"));
  symlinkSync("/etc/passwd", join(directory, "rollout-planted.jsonl"));

  const story = (told = session): Promise<Story> =>
    readStory({
      session: told,
      agent: { readMessages },
      files: localFiles,
      events: EVENTS,
      mails: [],
      redact: (text) => redact(text, [SECRET]),
    });
  return {
    root,
    outputs,
    session,
    directory,
    story,
    archive: async (path) =>
      writeArchive(path, {
        session,
        files: localFiles,
        secrets: [SECRET],
        story: await story(),
        view: { session_id: session.id, name: session.identity.name },
        events: EVENTS,
        mails: [],
        reeveVersion: "0.1.0",
        now: NOON,
        signal: new AbortController().signal,
      }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
