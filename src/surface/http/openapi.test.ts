/** The description of the API is whole, and valid by two validators that do not know each other. */
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { operations } from "../../operation/operations.ts";
import { describeApi } from "./openapi.ts";

type Node = Readonly<Record<string, unknown>>;

// As it is served.
const text = JSON.stringify(describeApi(operations, "0.1.0"));
const api = JSON.parse(text) as {
  readonly security: unknown;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Node>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Node>> };
};

/** Everything in it, with where it stands. */
function* walk(node: unknown, at: string): Generator<readonly [string, Node], void, void> {
  if (typeof node !== "object" || node === null) return;
  if (!Array.isArray(node)) yield [at, node as Node];
  for (const [key, inner] of Object.entries(node)) yield* walk(inner, `${at}/${key}`);
}

const isText = (value: unknown): boolean => typeof value === "string" && /^\S.{3,}[.:]?$/s.test(value);

test("is valid for @seriousme/openapi-schema-validator", async () => {
  const validator = new Validator();
  expect(await validator.validate(JSON.parse(text) as Record<string, unknown>)).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
});

test("is valid for Redocly by its strictest rules, and its examples are examples", async () => {
  // The address of a server on a unix socket has no better name than localhost.
  const rules = { "no-server-example.com": "off", "no-invalid-schema-examples": "error" } as const;
  const config = await createConfig({ extends: ["recommended-strict"], rules });
  const problems = await lintFromString({ source: text, absoluteRef: "/openapi.json", config });
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
});

test("every field of every object has a description", () => {
  const fields = [...walk(api, "")].flatMap(([at, { properties }]) =>
    Object.entries((properties ?? {}) as Readonly<Record<string, Node>>).map(
      ([name, field]) => [`${at}/${name}`, field] as const,
    ),
  );
  expect(fields.length).toBeGreaterThan(300);
  expect(fields.filter(([, { description }]) => !isText(description)).map(([at]) => at)).toEqual([]);
});

test("so has every parameter, answer and component", () => {
  const parts = [...walk(api.paths, "")].filter(([at, node]) => "in" in node || /\/(?:requestBody|200)$/.test(at));
  const components = Object.entries(api.components.schemas);
  expect([...parts, ...components].filter(([, { description }]) => !isText(description)).map(([at]) => at)).toEqual([]);
});

test("what has a name is referred to, not repeated", () => {
  const { Session, Event, Approval, Message, Problem } = api.components.schemas;
  for (const component of [Session, Event, Approval, Message, Problem]) expect(component).toBeDefined();
  const repeated = [...walk(api, "")].filter(([, { properties }]) => "reason_code" in ((properties ?? {}) as Node));
  expect(repeated.map(([at]) => at)).toEqual(["/components/schemas/StartedSession", "/components/schemas/Session"]);
});

test("takes no field that it does not tell, and may answer with more", () => {
  for (const [name, { additionalProperties }] of Object.entries(api.components.schemas))
    if (name !== "Problem")
      expect([name, additionalProperties]).toEqual([name, name.endsWith("Request") ? false : undefined]);
});

test("tells what guards it: the operator's socket, or a session's pass", () => {
  expect(api.security).toEqual([{}, { sessionPass: [] }]);
  expect(api.components).toMatchObject({ securitySchemes: { sessionPass: { type: "http", scheme: "bearer" } } });
});

test("tells the types of events by their names", () => {
  const { oneOf, discriminator } = api.components.schemas["Event"] as {
    readonly oneOf: readonly { readonly $ref: string }[];
    readonly discriminator: { readonly propertyName: string; readonly mapping: Readonly<Record<string, string>> };
  };
  expect(discriminator.propertyName).toBe("type");
  expect(Object.values(discriminator.mapping)).toEqual(oneOf.map(({ $ref }) => $ref));
  for (const [type, reference] of Object.entries(discriminator.mapping)) {
    const { properties } = api.components.schemas[reference.split("/").at(-1) ?? ""] as { readonly properties: Node };
    expect(properties["type"]).toMatchObject({ const: type });
  }
});

test("the stream is described: what comes, how it goes on, and of what it consists", () => {
  const { parameters, responses } = (api.paths["/v1/events"]?.["get"] ?? {}) as {
    readonly parameters: readonly Node[];
    readonly responses: { readonly 200: { readonly content: Readonly<Record<string, Node>> } };
  };
  expect(responses[200].content["text/event-stream"]).toMatchObject({
    schema: {
      type: "string",
      description: expect.stringMatching(/`id`.*`event`.*`data`.*15 seconds.*Last-Event-ID/s) as string,
    },
    "x-item-schema": { $ref: "#/components/schemas/Event" },
  });
  expect(parameters.map(({ name }) => name)).toContain("Last-Event-ID");
});

test("each operation is found by its name, its tag and a short summary", () => {
  const told = Object.values(api.paths).flatMap((methods) => Object.values(methods));
  expect(told.map(({ operationId }) => String(operationId)).toSorted()).toEqual(
    operations.flatMap(({ name, without }) => (without === undefined ? [name] : [name, without.name])).toSorted(),
  );
  for (const { tags, summary } of told) {
    expect(tags).toHaveLength(1);
    expect(String(summary).length).toBeLessThan(110);
  }
});
