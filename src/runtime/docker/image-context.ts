/**
 * What the engine builds an image from, as one tar archive: the files of the
 * project's image/ directory, and the certificates that were asked for. The
 * same request makes the same bytes, so that the engine finds in its cache what
 * it has built before.
 */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ReeveError } from "../../platform/reeve-error.ts";
import { tarBytes, type TarFile } from "../../platform/tar-writer.ts";

export interface ContextFile {
  readonly path: string;
  readonly text: string;
}

/** Of image/; certs/ is there also without a certificate, because the Dockerfile copies it. */
const FILES = ["Dockerfile", "install-packages.sh", "install-agent.sh", "certs/README.md"];

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

export function imageContext(directory: string, certificates: readonly string[]): readonly ContextFile[] {
  const own = FILES.map((path) => ({ path, text: readFileSync(join(directory, path), "utf8") }));
  const given = new Map(certificates.flatMap(certificatesIn).map((file) => [file.path, file]));
  return [...own, ...[...given.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1))];
}

/** Debian takes one in each file; named by what it is, so one that is given twice is there once. */
function certificatesIn(pem: string): readonly ContextFile[] {
  const found = pem.match(CERTIFICATE) ?? [];
  if (found.length === 0)
    throw badCertificate("there is no BEGIN CERTIFICATE in it; convert it to PEM, for example with openssl x509");
  return found.map((text) => {
    try {
      const print = new X509Certificate(text).fingerprint256.replaceAll(":", "").toLowerCase();
      return { path: `certs/${print.slice(0, 32)}.crt`, text: `${text}\n` };
    } catch {
      throw badCertificate("what stands between BEGIN CERTIFICATE and END CERTIFICATE cannot be read");
    }
  });
}

function badCertificate(why: string): ReeveError {
  return new ReeveError({
    code: "certificate-invalid",
    kind: "usage",
    message: `A CA certificate is not one that can be used: ${why}.`,
    details: { field: "ca_certificates", reason: why },
  });
}

export function archiveOf(files: readonly ContextFile[]): AsyncIterable<Uint8Array> {
  return tarBytes(entries(files));
}

async function* entries(files: readonly ContextFile[]): AsyncGenerator<TarFile, void, void> {
  for (const { path, text } of files) {
    const bytes = Buffer.from(text);
    yield { path, size: bytes.length, modifiedAt: 0, content: only(bytes) };
  }
}

async function* only(bytes: Buffer): AsyncGenerator<Uint8Array, void, void> {
  yield bytes;
}
