/** Gives the story of a session to OpenTelemetry: to a file, or to a collector that takes OTLP over HTTP. */
import { open, rm } from "node:fs/promises";
import { resolve } from "node:path";
import type { Client } from "../../client/create-client.ts";
import type { OutputOf } from "../../client/operation-types.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import { giveName, removeAbandoned, removeUnnoted, unfinishedName } from "../../platform/unfinished-file.ts";
import { type Span, type Traces, tracesOf } from "../../session/story/spans.ts";

export interface OtlpRequest {
  readonly session: string;
  /** A path, or the address of a collector. */
  readonly to: string;
  readonly hasContent: boolean;
  readonly version: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface OtlpAnswer {
  readonly to: string;
  readonly spans: number;
  readonly trace_id: string | null;
}

/** Collectors take about 4 MB at once; a span with content may have some of 16 KB. */
const SPANS_AT_ONCE = 200;
const ANSWER_WITHIN_MS = 30_000;

export async function exportTraces(client: Client, request: OtlpRequest): Promise<OtlpAnswer> {
  const traces = tracesOf(...(await storyOf(client, request)));
  const spans = spansIn(traces);
  const to = isAddress(request.to) ? collectorOf(request.to) : resolve(request.cwd, request.to);
  if (isAddress(request.to)) await send(traces, to, headersIn(request.environment["OTEL_EXPORTER_OTLP_HEADERS"]));
  else await write(`${JSON.stringify(traces)}\n`, to);
  return { to, spans: spans.length, trace_id: spans[0]?.traceId ?? null };
}

async function storyOf(
  client: Client,
  { session, hasContent, version }: OtlpRequest,
): Promise<Parameters<typeof tracesOf>> {
  type Page = OutputOf<"showSession">;
  let page: Page = await client.showSession({ session });
  const entries = [...page.entries];
  while (page.more) {
    page = await client.showSession({ session, since: page.cursor });
    entries.push(...page.entries);
  }
  const { session: own, imported } = page;
  const subject = {
    sessionId: own?.session_id ?? imported?.session_id ?? session,
    name: own?.name ?? imported?.name ?? session,
    agent: own?.agent ?? imported?.agent ?? null,
    role: own?.role ?? imported?.role ?? null,
    nativeId: own?.observability.native_id ?? null,
  };
  return [entries, subject, { version, hasContent }];
}

function isAddress(to: string): boolean {
  return /^https?:\/\//i.test(to);
}

/** As OTEL_EXPORTER_OTLP_ENDPOINT is read: the path of traces is added, unless it is there. */
function collectorOf(given: string): string {
  if (!URL.canParse(given)) throw usage(`"${given}" is not an address: give one such as http://localhost:4318.`);
  const url = new URL(given);
  if (!url.pathname.endsWith("/v1/traces")) url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`;
  return url.href;
}

/** `name=value,name=value`, percent-encoded. */
function headersIn(given = ""): Readonly<Record<string, string>> {
  const pairs = given.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1)
        throw usage("OTEL_EXPORTER_OTLP_HEADERS must have the form name=value,name=value: correct it, or unset it.");
      return [pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())] as const;
    }),
  );
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

async function send(traces: Traces, to: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const spans = spansIn(traces);
  for (let from = 0; from < spans.length; from += SPANS_AT_ONCE) {
    const body = JSON.stringify(withSpans(traces, spans.slice(from, from + SPANS_AT_ONCE)));
    const answer = await fetch(to, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    }).catch((error: unknown) => {
      throw failure(`${to} could not be reached (${reasonOf(error)}): check the address, and that the collector runs.`);
    });
    if (!answer.ok)
      throw failure(
        `${to} refused ${from === 0 ? "the spans" : "some of the spans"} with status ${answer.status}: see the collector's log. You can send them again: they keep their ids.`,
      );
    await answer.body?.cancel();
  }
}

/** The cause says more than "fetch failed". */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return messageOf(cause instanceof Error ? cause : error);
}

/** Whole or not at all, also if this is killed, and never over something that is there. */
async function write(text: string, path: string): Promise<void> {
  const unfinished = unfinishedName(path, "part");
  try {
    await removeUnnoted(path);
    await removeAbandoned(path);
    const file = await open(unfinished, "wx", 0o600);
    try {
      failpoint("traces.begun");
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    failpoint("traces.written");
    if (!(await giveName(unfinished, path)))
      throw usage(`${path} is there already: move it away, or give another file.`);
    failpoint("traces.named");
  } catch (error) {
    if (error instanceof ReeveError) throw error;
    throw failure(
      `${path} could not be written (${messageOf(error)}): give a file in a directory that you can write to.`,
    );
  } finally {
    await rm(unfinished, { force: true });
  }
}

function spansIn({ resourceSpans }: Traces): readonly Span[] {
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

function withSpans({ resourceSpans }: Traces, spans: readonly Span[]): Traces {
  return {
    resourceSpans: resourceSpans.map(({ resource, scopeSpans }) => ({
      resource,
      scopeSpans: scopeSpans.map(({ scope }) => ({ scope, spans })),
    })),
  };
}

function usage(message: string): ReeveError {
  return new ReeveError({ code: "bad-value", kind: "usage", message });
}

function failure(message: string): ReeveError {
  return new ReeveError({ code: "otlp-failed", kind: "unavailable", message });
}
