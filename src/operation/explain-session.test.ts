/** What `explain` says of the order of trust is what the table says. */
import { expect, test } from "vitest";
import type { Evidence } from "../session/session.ts";
import { isWitness, STANDING } from "../session/witness.ts";
import { whyCounted } from "./explain-session.ts";

const SOURCES = Object.keys(STANDING) as Evidence["source"][];

test("each rank of the table has one sentence, and each sentence one rank", () => {
  const ranks = new Map(SOURCES.map((source) => [whyCounted(source), STANDING[source]]));
  expect(new Set(ranks.values())).toEqual(new Set(Object.values(STANDING)));
  expect(ranks.size).toBe(new Set(Object.values(STANDING)).size);
  for (const source of SOURCES) expect(ranks.get(whyCounted(source))).toBe(STANDING[source]);
});

test("the witnesses are named, and none before another", () => {
  const [sentence = ""] = SOURCES.filter(isWitness).map(whyCounted);
  for (const source of SOURCES.filter(isWitness)) expect(sentence).toContain(source);
  expect(sentence).not.toMatch(/order/);
});
