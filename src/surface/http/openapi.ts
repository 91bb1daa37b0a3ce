/** OpenAPI 3.1, made from the table of operations when somebody asks for it. */
import * as z from "zod/mini";
import type { Operation } from "../../operation/contract.ts";

const PROBLEM = {
  description: "What was wrong and what to do",
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
};

export function describeApi(operations: readonly Operation[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describeOperation(operation);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Reeve",
      version,
      description: "Every agent session accounted for.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "http://localhost", description: "the daemon's unix socket" }],
    paths,
    components: { schemas: { Problem: PROBLEM_SCHEMA } },
  };
}

const PROBLEM_SCHEMA = {
  type: "object",
  required: ["type", "title", "status", "detail", "code", "kind"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string", description: "One sentence: what is wrong and what to do" },
    code: { type: "string", description: "Stable" },
    kind: { type: "string" },
    details: { type: "object" },
  },
};

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

function describeOperation(operation: Operation): object {
  const input = z.toJSONSchema(operation.input, { io: "input", unrepresentable: "any" }) as ObjectSchema;
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? "");
  const pathParameters = inPath.map((name) => ({
    name,
    in: "path",
    required: true,
    schema: input.properties?.[name] ?? {},
  }));
  const others = Object.entries(input.properties ?? {}).filter(([name]) => !inPath.includes(name));
  const required = (input.required ?? []).filter((name) => !inPath.includes(name));
  const isRead = operation.method === "GET";
  const queryParameters = isRead
    ? others.map(([name, schema]) => ({ name, in: "query", required: required.includes(name), schema }))
    : [];
  const idempotencyKey = {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    schema: { type: "string", maxLength: 255 },
  };
  const body = { type: "object", properties: Object.fromEntries(others), ...(required.length > 0 ? { required } : {}) };
  return {
    operationId: operation.name,
    summary: operation.summary,
    "x-effect": operation.effect,
    "x-callers": operation.callers,
    parameters: [
      ...pathParameters,
      ...queryParameters,
      ...(isRead ? [] : [idempotencyKey]),
      ...(operation.stream === undefined ? [] : [LAST_EVENT_ID]),
    ],
    ...(isRead
      ? {}
      : { requestBody: { required: required.length > 0, content: { "application/json": { schema: body } } } }),
    responses: {
      "200": {
        description: "Done",
        content: {
          "application/json": {
            schema: withoutDialect(z.toJSONSchema(operation.output, { io: "output", unrepresentable: "any" })),
          },
          ...streamContent(operation),
        },
      },
      default: PROBLEM,
    },
  };
}

const LAST_EVENT_ID = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  description: "Of a stream: go on after this event",
  schema: { type: "integer" },
};

/** The schema is that of the data of each event. */
function streamContent({ stream }: Operation): object {
  if (stream === undefined) return {};
  const schema = withoutDialect(z.toJSONSchema(stream.item, { io: "output", unrepresentable: "any" }));
  return { "text/event-stream": { schema } };
}

function withoutDialect(schema: object): object {
  const { $schema: _dialect, ...rest } = schema as { readonly $schema?: string };
  return rest;
}
