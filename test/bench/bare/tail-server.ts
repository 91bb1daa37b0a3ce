/** Baseline of target 3: the last 48 KB read by one pread, parsed line by line, answered. Arguments: socket, transcript. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { answerJson } from "./answer-json.ts";

const TAIL_BYTES = 49_152;
const [socketPath = "", transcriptPath = ""] = process.argv.slice(2);

answerJson(socketPath, () => {
  const buffer = Buffer.allocUnsafe(TAIL_BYTES);
  const file = openSync(transcriptPath, "r");
  const length = readSync(file, buffer, 0, TAIL_BYTES, Math.max(0, fstatSync(file).size - TAIL_BYTES));
  closeSync(file);
  const lines = buffer.toString("utf8", buffer.indexOf(10) + 1, length - 1).split("\n");
  return JSON.stringify({ messages: lines.map((line): unknown => JSON.parse(line)) });
});
