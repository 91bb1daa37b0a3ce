/** The schemas of events are those of the events that there are. */
import { expect, expectTypeOf, test } from "vitest";
import * as z from "zod/mini";
import type { EventBody, EventType } from "../session/event.ts";
import { type describeEvents, eventSchema } from "./event-schema.ts";
import { viewEvent } from "./read-events.ts";

type Snake<S extends string> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : S;
/** What `viewEvent` makes of a value under this name. */
type Shown<Value, Name extends string> = Value extends number
  ? Name extends "at" | `${string}At`
    ? string
    : number
  : Value extends readonly (infer Item)[]
    ? Shown<Item, Name>[]
    : Value extends object
      ? { [Key in keyof Value & string as Snake<Key>]: Shown<Value[Key], Key> }
      : Value;
type BodyOf<Type extends EventType, Body = EventBody> = Body extends { readonly type: infer Types }
  ? Type extends Types
    ? Omit<Body, "type">
    : never
  : never;
type DataOf<Type extends EventType> = Shown<BodyOf<Type>, "">;
type Shapes = ReturnType<typeof describeEvents>;
type Described<Type extends EventType> = z.output<z.ZodMiniObject<Shapes[Type][1]>>;
type Wrong = {
  [Type in EventType]: [DataOf<Type>, keyof Shapes[Type][1]] extends [Described<Type>, keyof DataOf<Type>]
    ? never
    : Type;
}[EventType];

test("each type of event has the fields that its schema describes, and no others", () => {
  expectTypeOf<DataOf<"turn-failed">>().toHaveProperty("error");
  expectTypeOf<Wrong>().toBeNever();
});

test("an event as it is shown is one of them, whole", () => {
  const evidence = { source: "hook", detail: "Stop", at: 5 } as const;
  const bodies: EventBody[] = [
    { type: "turn-completed", turn: 2, evidence },
    {
      type: "session-exited",
      incarnation: 1,
      exit: { code: 1, signal: null, at: 4 },
      reason: { code: "x", text: "X.", evidence },
    },
    { type: "restart-scheduled", dueAt: 9, reason: { code: "x", text: "X.", evidence } },
    { type: "daemon-died", pid: null, version: null, startedAt: null, error: null },
  ];
  for (const body of bodies) {
    const shown = viewEvent({ seq: 1, at: 1, sessionId: "s", caller: null, body });
    expect(z.parse(eventSchema, shown)).toEqual(shown);
  }
});
