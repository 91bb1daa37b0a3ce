/** Baseline of target 2: the same rows, held as objects, made into JSON for each request. Arguments: socket, file of the rows. */
import { readFileSync } from "node:fs";
import { answerJson } from "./answer-json.ts";

const [socketPath = "", rowsPath = ""] = process.argv.slice(2);
const rows: unknown = JSON.parse(readFileSync(rowsPath, "utf8"));
answerJson(socketPath, () => JSON.stringify(rows));
