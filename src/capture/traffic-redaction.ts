/**
 * Removes secrets from HTTP before it is recorded. Headers and query keys that
 * carry credentials are replaced whole, whatever is in them; everything else is
 * looked through for known secrets and well-known forms.
 */
import type { HeaderList } from "./raw-line.ts";
import { createRedaction, type Redactor } from "./redaction.ts";
import { createTagger } from "./secret-tag.ts";

export interface TrafficRedaction {
  /** As Node gives them: name, value, name, value. */
  headers(raw: readonly string[]): HeaderList;
  url(url: string): string;
  text(text: string): string;
  /** For a body that comes in pieces, as bytes: one character each. */
  body(): Redactor;
  /** For a text of bytes that is whole. */
  bytes(text: string): string;
}

const SECRET_HEADER =
  /^(?:proxy-)?authorization$|cookie|(?:^|[-_])(?:api|access|auth|secret|private|subscription|signing)[-_]?key$|^key$|(?:^|[-_])(?:token|secret|password|passwd|credentials?|signature)$/i;
/** What looks like one by its name, and is none. */
const PLAIN_HEADER = /ratelimit|rate-limit|^sec-websocket-|max-token/i;
/** `Bearer`, `Basic`, `Token`: the word says nothing, what follows it does. */
const SCHEME = /^([A-Za-z][A-Za-z0-9-]{0,30}) +(?=\S)/;
const MOST_KNOWN = 500;
const LONGEST_KNOWN = 2_000;
const SECRET_QUERY_KEY =
  /^(?:key|api[-_]?key|apikey|auth|authorization|(?:access|auth|id|refresh|session|security|x-amz-security|x-goog)?[-_]?token|(?:client[-_])?secret|password|passwd|pwd|sig|(?:x-(?:amz|goog)-)?signature|(?:x-(?:amz|goog)-)?credential|code|code_verifier)$/i;

export function createTrafficRedaction(secrets: readonly string[], tagKey: string): TrafficRedaction {
  const tag = createTagger(tagKey);
  const { text } = createRedaction(secrets, { tag });
  const ofBytes = createRedaction(secrets, { tag, ofBytes: true });
  /** Most headers are the same in each request of a session. */
  const known = new Map<string, string>();
  const placeholder = (secret: string): string => (secret === "" ? "" : `[redacted ${tag(secret)}]`);

  function header(name: string, value: string): string {
    const key = `${name}:${value}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    // Nobody knows how a header is encoded; Node reads each byte as a character.
    const safe = headerValue(name, Buffer.from(value, "latin1").toString());
    if (known.size >= MOST_KNOWN) known.clear();
    if (key.length <= LONGEST_KNOWN) known.set(key, safe);
    return safe;
  }

  function headerValue(name: string, value: string): string {
    if (!SECRET_HEADER.test(name) || PLAIN_HEADER.test(name)) return text(value);
    const scheme = /authorization$/i.test(name) ? (SCHEME.exec(value)?.[0] ?? "") : "";
    return scheme + placeholder(value.slice(scheme.length));
  }

  function queryPart(part: string): string {
    const equals = part.indexOf("=");
    if (equals === -1 || !SECRET_QUERY_KEY.test(decoded(part.slice(0, equals)))) return text(part);
    return `${part.slice(0, equals)}=${placeholder(decoded(part.slice(equals + 1)))}`;
  }

  return {
    headers: (raw) =>
      Array.from({ length: Math.floor(raw.length / 2) }, (_, index) => {
        const name = raw[index * 2] ?? "";
        return [name, header(name, raw[index * 2 + 1] ?? "")] as const;
      }),
    url(url) {
      const mark = url.indexOf("?");
      if (mark === -1) return text(url);
      return `${text(url.slice(0, mark))}?${url
        .slice(mark + 1)
        .split("&")
        .map(queryPart)
        .join("&")}`;
    },
    text,
    body: () => ofBytes.stream(),
    bytes: (text) => ofBytes.text(text),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
