/**
 * Has an image built and tells how far it is. The build ends with the
 * connection, so a connection that breaks is an error here: asked for again, it
 * goes on with what the engine has in its cache.
 */
import { createParser } from "eventsource-parser";
import { type ErrorKind, ReeveError } from "../platform/reeve-error.ts";
import type { ImageProgress, InputOf, OutputOf } from "./operation-types.ts";
import { problemFrom } from "./problem.ts";
import { type Link, reach } from "./request.ts";
import { aim, ROUTES } from "./routes.ts";

export interface BuildOptions {
  readonly signal?: AbortSignal;
  /** A step begins, prints a line, or loads something. */
  readonly onProgress?: (progress: ImageProgress) => void;
}

/** Three heartbeats of 15 s missed. */
const SILENCE_MS = 45_000;

export async function buildImage(
  link: Link,
  input: InputOf<"buildImage">,
  { signal, onProgress }: BuildOptions = {},
): Promise<OutputOf<"buildImage">> {
  let status = 0;
  let refusal = "";
  let last: ImageProgress | null = null;
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent: (message) => {
      last = JSON.parse(message.data) as ImageProgress;
      if (last.kind !== "built" && last.kind !== "failed") onProgress?.(last);
    },
  });
  const listener = {
    head: (head: { readonly status: number }): void => {
      status = head.status;
    },
    body: (bytes: Buffer): void => {
      const text = decoder.decode(bytes, { stream: true });
      if (status === 200) parser.feed(text);
      else refusal += text;
    },
  };
  const request = { ...aim(ROUTES.buildImage, input), headers: { accept: "text/event-stream" } };
  const rules = { patienceMs: SILENCE_MS, outlastsSilence: true, ...(signal === undefined ? {} : { signal }) };
  const failure = await reach(link, { ...request, ...rules }, listener).then(
    () => null,
    (error: unknown) => error,
  );
  if (status !== 0 && status !== 200) throw problemFrom(status, refusal);
  return resultOf(last, failure);
}

/** What was told last counts, however the connection ended. */
function resultOf(last: ImageProgress | null, failure: unknown): OutputOf<"buildImage"> {
  if (last?.image !== null && last?.image !== undefined) return last.image;
  if (last?.problem !== null && last?.problem !== undefined) {
    const { code, kind, details } = last.problem;
    throw new ReeveError({ code, kind: kind as ErrorKind, message: last.text, details });
  }
  if (last === null && failure !== null) throw failure;
  throw new ReeveError({
    code: "image-build-lost",
    kind: "unavailable",
    message: "The daemon went away while it built the image. Build it again: steps that were done are not repeated.",
  });
}
