/** What a request carries, read within bounds. Whether it makes sense is for the door to say. */
import type { IncomingMessage } from "node:http";
import type { Operation } from "../../operation/contract.ts";
import { ReeveError } from "../../platform/reeve-error.ts";

/** 1 MB of text can be six times as long in JSON. */
const LARGEST_BODY_BYTES = 8 * 1024 * 1024;

export async function readInput(
  request: IncomingMessage,
  url: URL,
  operation: Operation,
  parameters: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, unknown>>> {
  const given = operation.method === "GET" ? queryOf(url) : await readJson(request);
  return { ...given, ...parameters };
}

function queryOf(url: URL): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const key of new Set(url.searchParams.keys())) {
    const values = url.searchParams.getAll(key);
    query[key] = values.length === 1 ? values[0] : values;
  }
  return query;
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const type = request.headers["content-type"];
  const length = request.headers["content-length"];
  if (length === "0" || (length === undefined && request.headers["transfer-encoding"] === undefined)) return {};
  if (type === undefined || !/^application\/json(?:;|$)/i.test(type)) {
    throw new ReeveError({ code: "not-json", kind: "usage", message: "Send the request as application/json." });
  }
  if (Number(length ?? 0) > LARGEST_BODY_BYTES) throw tooLarge();
  const body = await readBody(request);
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString("utf8"));
  } catch {
    throw new ReeveError({ code: "not-json", kind: "usage", message: "The request's body is not well-formed JSON." });
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new ReeveError({ code: "not-json", kind: "usage", message: "The request's body must be a JSON object." });
  }
  return { ...parsed };
}

/** Not an async iterator: leaving that would close the socket before the refusal is sent. */
function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= LARGEST_BODY_BYTES) chunks.push(chunk);
      else reject(tooLarge());
    });
    request.once("end", () => resolve(Buffer.concat(chunks)));
    // It broke off, or was malformed in its middle.
    request.once("error", () => reject(brokenOff()));
    request.once("close", () => reject(brokenOff()));
  });
}

function tooLarge(): ReeveError {
  return new ReeveError({
    code: "request-too-large",
    kind: "too-large",
    message: `A request has at most ${LARGEST_BODY_BYTES} bytes; this one is larger.`,
  });
}

function brokenOff(): ReeveError {
  return new ReeveError({ code: "bad-request", kind: "usage", message: "The request broke off in its middle." });
}

/** A path, or the whole address as proxies send it. */
export function urlOf(request: IncomingMessage): URL {
  const target = request.url ?? "/";
  const url = URL.parse(target.startsWith("/") ? `http://localhost${target}` : target);
  if (url !== null && url.protocol === "http:") return url;
  throw new ReeveError({
    code: "bad-request",
    kind: "usage",
    message: "The request's target is not a path; ask for a path such as /v1/sessions.",
  });
}
