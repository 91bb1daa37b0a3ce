import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { imageContext } from "./image-context.ts";

const IMAGE = join(import.meta.dirname, "..", "..", "..", "image");
let dir = "";
let pem = "";

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "reeve-context-"));
  const args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=Test Authority"];
  execFileSync("openssl", [...args, "-keyout", "key.pem", "-out", "ca.pem"], { cwd: dir, stdio: "ignore" });
  pem = readFileSync(join(dir, "ca.pem"), "utf8");
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const paths = (certificates: readonly string[]) => imageContext(IMAGE, certificates).map(({ path }) => path);

it("holds the Dockerfile, all files that it copies, and a directory for certificates", () => {
  const own = paths([]);
  const dockerfile = readFileSync(join(IMAGE, "Dockerfile"), "utf8");
  const copied = [...dockerfile.matchAll(/^COPY (\S+)/gm)].map(([, source = ""]) => source);
  expect(copied.length).toBeGreaterThan(2);
  for (const source of copied) expect(own.some((path) => path.startsWith(source))).toBe(true);
});

it("takes certificates apart, each once, and leaves out what is none, such as a key", () => {
  const bundle = `# a comment\n${pem}\n${readFileSync(join(dir, "key.pem"), "utf8")}\n${pem}`;
  const files = imageContext(IMAGE, [bundle, pem]);
  const certificates = files.filter(({ path }) => path.endsWith(".crt"));
  expect(certificates).toEqual([{ path: certificates[0]?.path, text: pem }]);
  expect(files.some(({ text }) => text.includes("PRIVATE KEY"))).toBe(false);
});

it("says what is wrong with one that cannot be used", () => {
  expect(() => paths(["nothing"])).toThrow("there is no BEGIN CERTIFICATE in it");
  expect(() => paths(["-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"])).toThrow("cannot be read");
});
