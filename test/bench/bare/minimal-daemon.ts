/** Baseline of target 10: what any daemon on Node and SQLite needs, and nothing else. Arguments: socket, database. */
import { DatabaseSync } from "node:sqlite";
import { answerJson } from "./answer-json.ts";

const [socketPath = "", databasePath = ""] = process.argv.slice(2);
const db = new DatabaseSync(databasePath);
db.exec(
  "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, body TEXT)",
);
const insert = db.prepare("INSERT INTO rows (body) VALUES (?)");
for (let number = 0; number < 100; number += 1) insert.run(JSON.stringify({ number }));
const select = db.prepare("SELECT body FROM rows LIMIT 100");
answerJson(socketPath, () => JSON.stringify(select.all()));
