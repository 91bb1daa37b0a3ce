/**
 * Shapes define the fields of a record in one place. The TypeScript type
 * (`Of`), the check of a record that was read from a file, the values that are
 * missing in records of earlier versions, and the values of a new record follow
 * from a shape. Pure; written by hand, because it runs over every record at the
 * start (docs/decisions/0029-one-schema-of-a-session.md).
 *
 * A field that a shape does not know is kept: a later version wrote it.
 */
export interface Shape<Type> {
  readonly is: (value: unknown) => value is Type;
  /** The same value back where nothing is missing; not there where nothing ever is. */
  readonly complete?: (value: unknown) => unknown;
}

export type Of<Known> = Known extends Shape<infer Type> ? Type : never;

/** A new record starts with this. */
export interface Starting<Type> {
  readonly initial: Type;
}

/** A record that an earlier version wrote without this field is read with this. */
export interface Later<Type> {
  readonly missing: Type;
}

type Fields = Readonly<Record<string, Shape<unknown>>>;
type Whole<All extends Fields> = { readonly [Key in keyof All]: Of<All[Key]> };

export interface ObjectShape<All extends Fields> extends Shape<Whole<All>> {
  readonly fields: All;
}

/** What must be said of a new record: every field but those that start with a value, which may be. */
export type Given<All extends Fields> = {
  readonly [Key in keyof All as All[Key] extends Starting<unknown> ? never : Key]: Of<All[Key]>;
} & { readonly [Key in keyof All as All[Key] extends Starting<unknown> ? Key : never]?: Of<All[Key]> };

export function starts<Type>(shape: Shape<Type>, initial: NoInfer<Type>): Shape<Type> & Starting<Type> {
  return { ...shape, initial };
}

export function later<Type>(shape: Shape<Type>, missing: NoInfer<Type>): Shape<Type> & Later<Type> {
  return { ...shape, missing };
}

/** Both: how a field is added to a record that is in use. */
export function added<Type>(shape: Shape<Type>, value: NoInfer<Type>): Shape<Type> & Starting<Type> & Later<Type> {
  return { ...shape, initial: value, missing: value };
}

export const text: Shape<string> = { is: (value) => typeof value === "string" };
export const flag: Shape<boolean> = { is: (value) => typeof value === "boolean" };
export const instant: Shape<number> = { is: (value): value is number => Number.isFinite(value) };
export const count: Shape<number> = {
  is: (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0,
};
export const positive: Shape<number> = { is: (value): value is number => count.is(value) && value > 0 };
export const anything: Shape<unknown> = { is: (_value): _value is unknown => true };

/** A text whose words only the compiler knows. */
export function textOf<Known extends string>(): Shape<Known> {
  return { is: (value): value is Known => typeof value === "string" };
}

export function matching(pattern: RegExp): Shape<string> {
  return { is: (value): value is string => typeof value === "string" && pattern.test(value) };
}

export function oneOf<const Known extends string>(...values: readonly Known[]): Shape<Known> {
  return { is: (value): value is Known => values.some((known) => known === value) };
}

export function orNull<Type>({ is, complete }: Shape<Type>): Shape<Type | null> {
  return {
    is: (value): value is Type | null => value === null || is(value),
    ...(complete && { complete: (value: unknown) => (value === null ? value : complete(value)) }),
  };
}

export function listOf<Type>({ is, complete }: Shape<Type>): Shape<readonly Type[]> {
  return {
    is: (value): value is readonly Type[] => Array.isArray(value) && value.every(is),
    ...(complete && { complete: (value: unknown) => (Array.isArray(value) ? completeList(value, complete) : value) }),
  };
}

export function recordOf<Type>({ is }: Shape<Type>): Shape<Readonly<Record<string, Type>>> {
  return {
    is: (value): value is Readonly<Record<string, Type>> =>
      isTable(value) && !Array.isArray(value) && Object.values(value).every(is),
  };
}

export function object<const All extends Fields>(fields: All): ObjectShape<All> {
  const checks = Object.entries<Shape<unknown> & Gap>(fields);
  const gaps = checks.filter(([, field]) => field.complete !== undefined || "missing" in field);
  return {
    fields,
    is: (value): value is Whole<All> =>
      isTable(value) && checks.every(([key, field]) => Object.hasOwn(value, key) && field.is(value[key])),
    ...(gaps.length > 0 && { complete: (value: unknown) => (isTable(value) ? completeTable(value, gaps) : value) }),
  };
}

/** A new record: what was given, and for the rest what it starts with, in the order of the shape. */
export function begin<All extends Fields>({ fields }: ObjectShape<All>, given: Given<All>): Whole<All> {
  const values: Table = given;
  const entries = Object.entries(fields).map(([key, field]) => [
    key,
    Object.hasOwn(values, key) ? values[key] : (field as Partial<Starting<unknown>>).initial,
  ]);
  return Object.fromEntries(entries) as Whole<All>;
}

export type Table = Readonly<Record<string, unknown>>;

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null;
}

type Gap = Pick<Shape<unknown>, "complete"> & Partial<Later<unknown>>;

/** What was there keeps its order: records are compared by their text. */
function completeTable(value: Table, gaps: readonly (readonly [string, Gap])[]): Table {
  let whole: Record<string, unknown> | undefined;
  for (const [key, field] of gaps) {
    const part = Object.hasOwn(value, key) ? (field.complete?.(value[key]) ?? value[key]) : field.missing;
    if (part === value[key]) continue;
    whole ??= { ...value };
    whole[key] = part;
  }
  return whole ?? value;
}

function completeList(values: readonly unknown[], complete: (value: unknown) => unknown): readonly unknown[] {
  const whole = values.map(complete);
  return whole.every((value, index) => value === values[index]) ? values : whole;
}
