/**
 * Baseline of target 8: passes requests on to one upstream and appends what passes to a file, as the shortest program
 * does it. Arguments: port file, upstream port, file.
 */
import { createWriteStream, renameSync, writeFileSync, writeSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

const [portPath = "", upstreamPort = "", copyPath = ""] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const copy = createWriteStream(copyPath, { flags: "a" });

const server = createServer((incoming, outgoing) => {
  const { method, url, headers } = incoming;
  const options = { agent, host: "127.0.0.1", port: Number(upstreamPort), method, path: url, headers };
  const onward = request(options, (response) => {
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    outgoing.flushHeaders();
    response.pipe(copy, { end: false });
    response.pipe(outgoing);
  });
  incoming.pipe(copy, { end: false });
  incoming.pipe(onward);
});
server.listen(0, "127.0.0.1", () => {
  writeFileSync(`${portPath}.new`, String((server.address() as AddressInfo).port));
  renameSync(`${portPath}.new`, portPath);
  writeSync(Number(process.env["REEVE_READY_FD"]), "ready\n");
});
