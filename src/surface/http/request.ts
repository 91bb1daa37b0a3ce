/**
 * Reads the fields of a request, within bounds: they are in the path, and in
 * the query (GET) or the body (POST). Nothing is ignored. The text of a query
 * is converted to the type in the operation's schema; text that cannot be
 * converted stays text. operation/door.ts checks the result.
 */
import type { IncomingMessage } from "node:http";
import type * as z from "zod/mini";
import type { Operation } from "../../operation/contract.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { showName } from "../../platform/shown-value.ts";

/** 1 MB of text can be six times as long in JSON. */
const LARGEST_BODY_BYTES = 8 * 1024 * 1024;

export async function readInput(
  request: IncomingMessage,
  url: URL,
  operation: Operation,
  parameters: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, unknown>>> {
  const isRead = operation.method === "GET";
  if (isRead) requireNoBody(request, url);
  else requireNoQuery(url, "send a JSON object in the body");
  const given = isRead ? queryOf(url, operation) : await readJson(request);
  const twice = Object.keys(parameters).find((name) => Object.hasOwn(given, name));
  if (twice !== undefined)
    throw misplaced(`${twice} is in the path already; leave it out of the ${isRead ? "query" : "body"}.`, twice);
  return { ...given, ...parameters };
}

function requireNoBody({ headers }: IncomingMessage, url: URL): void {
  if ((headers["content-length"] ?? "0") === "0" && headers["transfer-encoding"] === undefined) return;
  throw misplaced(`GET ${url.pathname} takes its fields in the query; send no body.`, null);
}

export function requireNoQuery(url: URL, instead = "it takes no fields"): void {
  const [name] = url.searchParams.keys();
  if (name === undefined) return;
  throw misplaced(
    `${url.pathname} takes nothing in its query, such as ${showName(name)}; ${instead}.`,
    name.slice(0, LONGEST_DETAIL),
  );
}

const LONGEST_DETAIL = 200;

function misplaced(message: string, field: string | null): ReeveError {
  return new ReeveError({ code: "bad-request", kind: "usage", message, details: { field } });
}

function queryOf(url: URL, { input: { shape } }: Operation): Readonly<Record<string, unknown>> {
  const names = [...new Set(url.searchParams.keys())];
  return Object.fromEntries(
    names.map((name) => [
      name,
      fromText(url.searchParams.getAll(name), Object.hasOwn(shape, name) ? shape[name] : undefined),
    ]),
  );
}

/** As JSON writes it: clients send numbers as they print them. */
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?$/i;

function fromText(values: readonly string[], schema: z.core.$ZodType | undefined): unknown {
  const kind = schema === undefined ? "unknown" : kindOf(schema);
  const [text = ""] = values;
  if (kind === "array" || values.length > 1) return values;
  if (kind === "number" && NUMBER.test(text)) return Number(text);
  if (kind === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

/** Of what is inside "optional" and "or else". */
function kindOf(schema: z.core.$ZodType): string {
  const { def } = schema._zod;
  return "innerType" in def ? kindOf(def.innerType as z.core.$ZodType) : def.type;
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const type = request.headers["content-type"];
  const length = request.headers["content-length"];
  if (length === "0" || (length === undefined && request.headers["transfer-encoding"] === undefined)) return {};
  if (type === undefined || !/^application\/json(?:;|$)/i.test(type)) {
    throw new ReeveError({ code: "not-json", kind: "usage", message: "Send the request as application/json." });
  }
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
export function readBody(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > LARGEST_BODY_BYTES) return Promise.reject(tooLarge());
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
