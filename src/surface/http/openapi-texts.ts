/** What the description of the API says beyond its operations: about the socket, errors, streams and headers. */

export const ABOUT = `Start, watch, pause, resume, restart and end sessions of coding agents.

**Where.** The daemon serves this API on a unix socket; \`reeve daemon status\` shows its path. With curl: \`curl --unix-socket PATH http://localhost/v1/sessions\`. Send \`Host: localhost\` and no \`Origin\`.

**Who may call.** The socket belongs to one user (mode 0600, in a directory of mode 0700): whoever opens it and shows no pass is the operator, and may call every operation on any session. A program in a session shows the pass of that session, from its \`REEVE_PASS\`, as \`Authorization: Bearer PASS\`: then it calls as that session, for itself and for what it started. On the socket that sessions are told of (\`REEVE_SOCKET\`) every call needs a pass.

**Fields.** A field that an operation does not know is refused with the nearest known name. GET takes its fields in the query (a list repeats its name), POST takes them as a JSON object in the body. Answers may get further fields in later versions: ignore those you do not know.

**Errors** are \`application/problem+json\` (RFC 9457). \`code\` is stable; \`detail\` says in a sentence what is wrong and what to do.

**Cursors.** Every event has a number. An answer that has to do with the log tells one as \`cursor\`; pass it to another operation as \`since\`, and you miss nothing in between.

**Repeating.** A change that carries an \`Idempotency-Key\` is made once, however often you ask for it with the same key.`;

export const TAGS: Readonly<Record<string, string>> = {
  sessions: "Start sessions, look at them, talk to them, end them.",
  mail: "Mail between sessions, roles and the operator.",
  approvals: "What agents ask before they go on, and your answers.",
  events: "The log: everything that happened, in order.",
  images: "Images for sessions in containers.",
  doctor: "Whether this machine has what Reeve needs.",
  daemon: "The process that serves this API.",
};

/** With every answer that a session gets. */
export const UNREAD_HEADERS = {
  "reeve-unread-mail": {
    description: "How many mails of the session that calls are unread. Only for calls with a pass.",
    schema: { type: "integer", minimum: 0 },
  },
  "reeve-unread-hand-offs": {
    description: "How many of those are hand-offs.",
    schema: { type: "integer", minimum: 0 },
  },
};

export const PROBLEM = {
  type: "object",
  description: "What is wrong and what to do (RFC 9457).",
  required: ["type", "title", "status", "detail", "code", "kind", "details"],
  properties: {
    type: { type: "string", description: "The code as a URN." },
    title: { type: "string", description: "The code in words." },
    status: { type: "integer", description: "The HTTP status." },
    detail: { type: "string", description: "One sentence: what is wrong and what to do." },
    code: { type: "string", description: "For programs: it stays the same in later versions." },
    kind: {
      type: "string",
      description: "What kind of error it is, such as usage, not-found, conflict or unavailable.",
    },
    details: {
      type: "object",
      additionalProperties: true,
      description: "More for programs, by code: `field` of a bad request, `nearest` names of an unknown one.",
    },
  },
  example: {
    type: "urn:reeve:error:bad-request",
    title: "bad request",
    status: 400,
    detail: "tail must be a whole number of bytes, not 3.5.",
    code: "bad-request",
    kind: "usage",
    details: { field: "tail" },
  },
} as const;

/** By status. */
export const PROBLEMS = {
  "400": {
    name: "BadRequest",
    description: "A field is missing, unknown or not what it must be. Nothing was changed.",
  },
  "403": { name: "Forbidden", description: "This caller may not do that." },
  "404": { name: "UnknownSession", description: "There is no such session; `details.nearest` names similar ones." },
  "409": { name: "Conflict", description: "The session is not in a state in which that is possible." },
  "413": { name: "TooLarge", description: "The request is larger than Reeve takes." },
  "500": { name: "Internal", description: "Reeve failed; see daemon.log." },
  "503": {
    name: "Unavailable",
    description:
      "Something that Reeve needs is not there right now, or must be fixed first, as `detail` says; try again then.",
  },
} as const;

export const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "Names this change: asked for again with the same key and the same fields, it is made once.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
  example: "5f0c2a4e-build-1",
} as const;

export const LAST_EVENT_ID = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  description: "Of a stream: go on after this event. It counts more than `since`.",
  schema: { type: "integer", minimum: 0 },
  example: 120,
} as const;

export const EVENT_STREAM = {
  schema: {
    type: "string",
    description:
      "Server-sent events, for as long as you stay connected: first what the log has after the cursor, then what happens. Each has the event's number as `id`, its type as `event`, and one Event as JSON in `data`. A comment line comes every 15 seconds while nothing happens. If the connection breaks, connect again with the last `id` as `Last-Event-ID`: none is missing, none comes twice. A reader that takes nothing for 60 seconds is disconnected.",
  },
  example:
    'id: 121\nevent: turn-started\ndata: {"seq":121,"at":"2026-11-16T09:30:00.000Z","session_id":"s-1","caller":null,"type":"turn-started","data":{"turn":1,"evidence":{"source":"hook","detail":"UserPromptSubmit","at":"2026-11-16T09:30:00.000Z"}}}\n\n',
} as const;

/** Of what ends with the connection. */
export const PROGRESS_STREAM = {
  schema: {
    type: "string",
    description:
      "Server-sent events until it is done; the last one has the result or the problem. A comment line comes every 15 seconds while nothing happens. If you disconnect, it is stopped.",
  },
  example:
    'id: 3\nevent: image-step\ndata: {"kind":"step","text":"COPY certs/ /usr/local/share/ca-certificates/reeve/","step":6,"steps":20,"image":null,"problem":null}\n\n',
} as const;
