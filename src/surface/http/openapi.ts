/** OpenAPI 3.1, made from the table of operations when somebody asks for it. */
import type { Operation } from "../../operation/contract.ts";
import type { JsonSchema, SchemaBook } from "./openapi-schemas.ts";
import { createSchemaBook } from "./openapi-schemas.ts";
import {
  ABOUT,
  EVENT_STREAM,
  IDEMPOTENCY_KEY,
  LAST_EVENT_ID,
  PROBLEM,
  PROBLEMS,
  PROGRESS_STREAM,
  TAGS,
  UNREAD_HEADERS,
} from "./openapi-texts.ts";

export function describeApi(operations: readonly Operation[], version: string): object {
  const book = createSchemaBook();
  book.add("Problem", PROBLEM);
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describeOperation(operation, book);
    const { without } = operation;
    if (without === undefined) continue;
    (paths[without.path] ??= {})[operation.method.toLowerCase()] = describeOperation(operation, book, without);
  }
  return {
    openapi: "3.1.1",
    info: { title: "Reeve", version, description: ABOUT, license: { name: "MIT", identifier: "MIT" } },
    servers: [
      {
        url: "http://localhost",
        description: "The daemon's unix socket: `reeve daemon status` shows its path. There is no TCP port.",
      },
    ],
    // The operator's socket is guarded by who may open it; a session shows its pass.
    security: [{}, { sessionPass: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        sessionPass: {
          type: "http",
          scheme: "bearer",
          description:
            "The pass of the session that calls, from its REEVE_PASS. On the socket in REEVE_SOCKET every call needs one; on the operator's socket a call without one is the operator's.",
        },
      },
      schemas: book.components,
      responses: Object.fromEntries(
        Object.values(PROBLEMS).map(({ name, description }) => [
          name,
          {
            description,
            content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
          },
        ]),
      ),
    },
  };
}

/** `at`: by which of its paths, and under which name. */
function describeOperation(
  operation: Operation,
  book: SchemaBook,
  at: Pick<Operation, "path" | "name"> = operation,
): object {
  const { properties, required } = book.input(operation.input);
  const example = operation.example as Readonly<Record<string, unknown>>;
  const isInPath = (name: string): boolean => at.path.includes(`{${name}}`);
  const isRead = operation.method === "GET";
  const others = Object.keys(properties).filter((name) => !operation.path.includes(`{${name}}`));
  const parameter = (name: string): object => {
    const { description, ...schema } = properties[name] ?? {};
    return {
      name,
      in: isInPath(name) ? "path" : "query",
      required: isInPath(name) || required.includes(name),
      description,
      schema,
      ...(name in example ? { example: example[name] } : {}),
    };
  };
  return {
    operationId: at.name,
    tags: [tagOf(operation)],
    summary: shortly(operation.summary),
    description: operation.summary,
    "x-effect": operation.effect,
    "x-callers": operation.callers,
    parameters: [
      ...Object.keys(properties).filter(isInPath).map(parameter),
      ...(isRead ? others.map(parameter) : []),
      ...(operation.effect === "read" ? [] : [IDEMPOTENCY_KEY]),
      ...(isContinued(operation) ? [LAST_EVENT_ID] : []),
    ],
    ...(isRead || others.length === 0 ? {} : { requestBody: describeBody(operation, book, others) }),
    responses: {
      "200": {
        description: "Done.",
        headers: UNREAD_HEADERS,
        content: { "application/json": { schema: answerOf(operation, book) }, ...streamOf(operation, book) },
      },
      ...problemsOf(operation),
    },
  };
}

function describeBody(operation: Operation, book: SchemaBook, fields: readonly string[]): object {
  const { properties, required, ...rest } = book.input(operation.input);
  const only = (values: object): object =>
    Object.fromEntries(Object.entries(values).filter(([name]) => fields.includes(name)));
  const needed = required.filter((name) => fields.includes(name));
  const schema = book.add(`${pascalCase(operation.name)}Request`, {
    description: `What ${operation.name} takes.`,
    ...rest,
    properties: only(properties),
    ...(needed.length === 0 ? {} : { required: needed }),
  });
  return {
    description: "The fields that are not in the path.",
    required: needed.length > 0,
    content: { "application/json": { schema, example: only(operation.example) } },
  };
}

function answerOf({ name, output }: Operation, book: SchemaBook): JsonSchema {
  return book.output(output, `${pascalCase(name)}Answer`, `What ${name} answers.`);
}

/** OpenAPI 3.1 cannot say of what a stream consists; `x-item-schema` is the `itemSchema` of 3.2. */
function streamOf({ name, stream }: Operation, book: SchemaBook): object {
  if (stream === undefined) return {};
  // Tools do not know `x-item-schema`, and would take a component that only stands there for a forgotten one.
  const item = book.inPlace(stream.item, `What ${name} streams.`);
  return {
    "text/event-stream": { ...(stream.since === null ? PROGRESS_STREAM : EVENT_STREAM), "x-item-schema": item },
  };
}

function isContinued({ stream }: Operation): boolean {
  return stream !== undefined && stream.since !== null;
}

function problemsOf({ names, about = [], method, effect }: Operation): object {
  const isOnSomething = names.length + about.length > 0;
  const isPossible = {
    "400": true,
    "403": true,
    "404": isOnSomething,
    "409": effect !== "read" || isOnSomething,
    "413": method === "POST",
    "500": true,
    "503": true,
  } as const satisfies Record<keyof typeof PROBLEMS, boolean>;
  return Object.fromEntries(
    Object.entries(PROBLEMS)
      .filter(([status]) => isPossible[status as keyof typeof PROBLEMS])
      .map(([status, { name }]) => [status, { $ref: `#/components/responses/${name}` }]),
  );
}

function tagOf({ path }: Operation): string {
  return path.split("/")[2] ?? "";
}

/** In lists of operations there is room for no more. */
function shortly(summary: string): string {
  return /^.*?(?=[.:;](?:\s|$))/.exec(summary)?.[0] ?? summary;
}

function pascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
