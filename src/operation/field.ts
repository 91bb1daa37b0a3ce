/** Kinds of fields that many operations share. The description of a field is part of the API: `/openapi.json` shows it. */
import * as z from "zod/mini";
import { SURFACES } from "../platform/surface.ts";
import { RESTART_POLICIES } from "../session/restart-record.ts";

/** Made when it is first checked against or described: most are never, and a schema is many objects. */
export function whenUsed<Schema extends z.ZodMiniType>(make: () => Schema): z.ZodMiniLazy<Schema> {
  let schema: Schema | undefined;
  // What zod itself keeps is lost where a description is added.
  return z.lazy(() => (schema ??= make()));
}

export const made = <Schema extends z.ZodMiniType>(lazy: z.ZodMiniLazy<Schema>): Schema => lazy._zod.innerType;

export const instant = (description: string) => z.string().check(z.meta({ description, format: "date-time" }));

export const instantOrNull = (description: string) =>
  z.nullable(z.string().check(z.meta({ format: "date-time" }))).check(z.describe(description));

export const text = (description: string) => z.string().check(z.describe(description));

export const textOrNull = (description: string) => z.nullable(z.string()).check(z.describe(description));

export const count = (description: string) => z.int().check(z.minimum(0), z.describe(description));

export const yesOrNo = (description: string) => z.boolean().check(z.describe(description));

/** A place in the event log: every answer calls it `cursor`, and every question takes it as `since`. */
export const cursor = (description: string) => z.int().check(z.minimum(0), z.describe(description));

export const since = (description: string) => z.optional(z.int().check(z.minimum(0))).check(z.describe(description));

export const seconds = (most: number) =>
  z.number().check(z.minimum(0), z.maximum(most), z.meta({ "x-unit": "seconds" }));

export const restartPolicySchema = (description: string) => z.enum(RESTART_POLICIES).check(z.describe(description));

/** The caller's variables: handed on, never stored, never quoted. */
export const environment = z.record(z.string(), z.optional(plainText()));

/** The operating system takes no NUL in any argument, path or variable. */
export function plainText() {
  return z.string().check(z.refine((given) => !given.includes("\0"), "text without a NUL character"));
}

/** Of an event: from where it was asked. */
export const surface = (how: string) =>
  z
    .optional(z.enum(SURFACES))
    .check(
      z.describe(
        `${how}: on the command line, on the board, over MCP or another way over HTTP, as the caller itself says; missing where nobody did.`,
      ),
    );
