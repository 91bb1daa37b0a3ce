/**
 * A registry of npm on loopback, with a certificate of an authority that nobody knows, as a company's proxy has one. It
 * serves a package that is installed on this machine, as its publisher made it; of everything else it says that there is
 * none.
 */
import { execFileSync } from "node:child_process";
import { createReadStream, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

export interface NpmRegistry {
  readonly url: string;
  /** The authority's certificate, as PEM. */
  readonly caFile: string;
  /** Which paths were asked for. */
  readonly asked: readonly string[];
  /** From now on it takes questions and answers none. */
  hush(): void;
  dispose(): Promise<void>;
}

export async function startNpmRegistry(packageDirectory: string): Promise<NpmRegistry> {
  const dir = mkdtempSync(join(tmpdir(), "reeve-registry-"));
  const openssl = (...args: readonly string[]): Buffer =>
    execFileSync("openssl", args, { cwd: dir, stdio: ["ignore", "pipe", "pipe"] });
  const fresh = ["-newkey", "rsa:2048", "-nodes", "-days", "2"];
  openssl("req", "-x509", ...fresh, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test Authority");
  const name = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  openssl("req", ...fresh.slice(0, 3), "-keyout", "key.pem", "-out", "request.pem", ...name);
  const signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-copy_extensions", "copy"];
  openssl("x509", "-req", "-in", "request.pem", "-out", "cert.pem", ...signing);

  const about = JSON.parse(readFileSync(join(packageDirectory, "package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
  };
  const tarball = join(dir, "package.tar");
  const transform = `s,^${basename(packageDirectory)},package,`;
  execFileSync("tar", [
    "-c",
    "-f",
    tarball,
    "--exclude=node_modules",
    "--transform",
    transform,
    "-C",
    dirname(packageDirectory),
    basename(packageDirectory),
  ]);

  const asked: string[] = [];
  let isSilent = false;
  const tls = { key: readFileSync(join(dir, "key.pem")), cert: readFileSync(join(dir, "cert.pem")) };
  const server = createServer(tls, (request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    asked.push(path);
    if (isSilent) return;
    if (path === "/package.tar") {
      response.writeHead(200, { "content-length": statSync(tarball).size });
      return void createReadStream(tarball).pipe(response);
    }
    if (path !== `/${about.name}`) return void response.writeHead(404).end("{}");
    const version = { ...about, dist: { tarball: `${url}/package.tar` } };
    const versions = { [about.version]: version };
    const packument = { name: about.name, "dist-tags": { latest: about.version }, versions };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(packument));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    caFile: join(dir, "ca.pem"),
    asked,
    hush() {
      isSilent = true;
    },
    async dispose() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
