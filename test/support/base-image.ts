/**
 * What the project's Dockerfile can be built on without a network, made in seconds of this machine's own programs: Node,
 * npm, openssl, what Debian's update-ca-certificates uses, and a dpkg that says of every package that the Dockerfile asks
 * for that it is installed.
 */
import { cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findExecutable } from "../../src/platform/executable.ts";
import { DATA, machineArchive, PROGRAMS } from "./session-image.ts";

export const BASE_IMAGE = "reeve-test-base:1";

const NODE = join(import.meta.dirname, "..", "..", "node_modules", "node", "bin", "node");
const MORE_PROGRAMS =
  "basename cmp cut diff dirname dpkg-query find mktemp openssl run-parts tee update-ca-certificates";
const PACKAGES = ["ca-certificates", "curl", "git", "less", "procps", "ripgrep", "tmux", "python3"];

/** Why it cannot be made here; null where it can. */
export function baseImpediment(): string | null {
  const where = { cwd: "/", path: `${process.env["PATH"] ?? ""}:/usr/sbin` };
  const missing = ["npm", ...MORE_PROGRAMS.split(" ")].find((name) => findExecutable(name, where) === null);
  return missing === undefined ? null : `there is no ${missing} on this machine`;
}

export function baseImageArchive(): string {
  const npm = dirname(
    dirname(realpathSync(findExecutable("npm", { cwd: "/", path: process.env["PATH"] ?? "" }) ?? "")),
  );
  const lay = (root: string): void => {
    for (const directory of ["usr/local/bin", "usr/local/lib/node_modules", "usr/local/share", "var/lib/dpkg", "tmp"])
      mkdirSync(join(root, directory), { recursive: true });
    for (const directory of [
      "etc/ssl/certs",
      "etc/ca-certificates/update.d",
      "usr/share/ca-certificates",
      "usr/lib/ssl",
    ])
      mkdirSync(join(root, directory), { recursive: true });
    symlinkSync("/etc/ssl/openssl.cnf", join(root, "usr/lib/ssl/openssl.cnf"));
    writeFileSync(join(root, "etc/ca-certificates.conf"), "");
    cpSync(NODE, join(root, "usr/local/bin/node"));
    cpSync(npm, join(root, "usr/local/lib/node_modules/npm"), { recursive: true });
    symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(root, "usr/local/bin/npm"));
    writeFileSync(join(root, "var/lib/dpkg/status"), PACKAGES.map(installed).join("\n"));
    writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n");
    writeFileSync(join(root, "etc/ssl/certs/ca-certificates.crt"), "");
  };
  return machineArchive(
    "base-image",
    [...PROGRAMS, ...MORE_PROGRAMS.split(" ")],
    [...DATA, "/etc/ssl/openssl.cnf"],
    lay,
    [NODE, import.meta.filename, join(npm, "package.json")],
  );
}

function installed(name: string): string {
  return `Package: ${name}\nStatus: install ok installed\nMaintainer: nobody <nobody@example.com>\nArchitecture: all\nVersion: 1\nDescription: here for a test\n`;
}
