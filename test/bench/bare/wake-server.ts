/**
 * Baseline of targets 4 and 5: whatever appears in a directory (a record, by rename)
 * or is appended to a transcript in it is parsed, committed as one row and
 * written to each subscriber; at /wait the end of a turn is answered instead.
 * Arguments: socket, directory, database.
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync, unlinkSync, watch, writeSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const [socketPath = "", directory = "", databasePath = ""] = process.argv.slice(2);
const db = new DatabaseSync(databasePath);
db.exec(
  "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE events (seq INTEGER PRIMARY KEY, at INTEGER, body TEXT)",
);
const insert = db.prepare("INSERT INTO events (at, body) VALUES (?, ?)");
const subscribers = new Set<ServerResponse>();
let waiter: ServerResponse | null = null;
const offsets = new Map<string, number>();

function take(told: string): void {
  const record = JSON.parse(told) as {
    readonly hook_event_name?: string;
    readonly payload?: { readonly type: string };
  };
  const what = record.hook_event_name ?? record.payload?.type;
  const type = what === "Stop" || what === "task_complete" ? "turn-completed" : "turn-started";
  const body = JSON.stringify({ type, session_id: "bare", evidence: what });
  const { lastInsertRowid } = insert.run(Date.now(), body);
  const text = `id: ${lastInsertRowid}\nevent: ${type}\ndata: ${body}\n\n`;
  for (const subscriber of subscribers) subscriber.write(text);
  if (waiter === null || type !== "turn-completed") return;
  const answer = JSON.stringify({ reason: type, cursor: lastInsertRowid, session: record });
  waiter.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(answer) });
  waiter.end(answer);
  waiter = null;
}

function readRecord(path: string): void {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return; // taken already
  }
  take(text);
  unlinkSync(path);
}

function readLines(path: string): void {
  const offset = offsets.get(path) ?? 0;
  const file = openSync(path, "r");
  const bytes = Buffer.allocUnsafe(fstatSync(file).size - offset);
  readSync(file, bytes, 0, bytes.length, offset);
  closeSync(file);
  const end = bytes.lastIndexOf(10) + 1;
  offsets.set(path, offset + end);
  if (end > 0) for (const line of bytes.toString("utf8", 0, end - 1).split("\n")) take(line);
}

watch(directory, (_event, name) => {
  if (name === null || name.startsWith(".")) return;
  if (name.endsWith(".jsonl")) readLines(join(directory, name));
  else if (name.endsWith(".json")) readRecord(join(directory, name));
});
const server = createServer((request, response) => {
  if (request.url === "/wait") {
    waiter = response;
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(": events\n\n");
  subscribers.add(response);
});
server.listen(socketPath, () => void writeSync(3, "ready\n"));
