/** A message that repeats a secret is stored without it and given with it. */
import { amend } from "../../session/amend.ts";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { admitMessage, putSession } from "../../store/change.ts";
import { makeHome, makeMessage, makeSession, type TestHome } from "../../store/store-fixture.ts";
import { conceal, concealMessages, isConcealed, reveal } from "./concealed-text.ts";

const SECRETS = [
  { ref: "TOKEN", value: "tok3n-value" },
  { ref: "TOKEN_LONG", value: "tok3n-value-longer" },
  { ref: "PIN", value: "KEN_" },
];

let home: TestHome;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

test("what comes back is what was given, and no secret is in between", () => {
  const piece = fc.oneof(fc.constantFrom(...SECRETS.map(({ value }) => value), "TOKEN", "PIN", "\n"), fc.string());
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join("").replaceAll(/[\u0001\u0002]/g, "");
      const kept = conceal(text, SECRETS);
      const outside = kept.replaceAll(/\u0001[^\u0002]*\u0002/g, "\u0001");
      for (const { value } of SECRETS) expect(outside).not.toContain(value);
      expect(reveal(kept, SECRETS)).toBe(text);
      expect(isConcealed(kept)).toBe(kept !== text);
    }),
  );
});

const secretsAre = (known: () => typeof SECRETS | null) => () => ({ known, learn: async () => known() });

test("the database has the name, the supervisor has the text, and nobody a wrong one", async () => {
  const raw = await home.open();
  let known: typeof SECRETS | null = SECRETS;
  const store = concealMessages(raw, { secrets: secretsAre(() => known), brought: () => null });
  await store.commit({ changes: [putSession(makeSession(home, "a"))] });
  await store.commit({ changes: [admitMessage(makeMessage("a", "m", { text: "use tok3n-value now" }))] });
  expect(raw.mailbox.get("m")?.text).toBe("use \u0001TOKEN\u0002 now");
  expect(store.mailbox.get("m")?.text).toBe("use tok3n-value now");
  expect(store.mailbox.open("a").map(({ text }) => text)).toEqual(["use tok3n-value now"]);
  known = null;
  expect(isConcealed(store.mailbox.open("a")[0]?.text ?? "")).toBe(true);
});

test("the first message of a session is concealed by the environment that its start brings", async () => {
  const raw = await home.open();
  const brought = { TOKEN: "tok3n-value" };
  const store = concealMessages(raw, { secrets: secretsAre(() => null), brought: () => brought });
  const admit = makeMessage("a", "m", { text: "use tok3n-value now" });
  await store.commit({ changes: [putSession(makeSession(home, "a")), admitMessage(admit)] });
  expect(raw.mailbox.get("m")?.text).toBe("use \u0001TOKEN\u0002 now");
  expect(store.mailbox.get("m")?.text).toBe("use tok3n-value now");
});

test("a message to a session whose process cannot be asked hides what is in its env file", async () => {
  const raw = await home.open();
  const store = concealMessages(raw, { secrets: secretsAre(() => null), brought: () => null });
  const session = makeSession(home, "a");
  const envFile = join(home.directory, "secrets.env");
  writeFileSync(envFile, "FROM_FILE=tok3n-value\n");
  await store.commit({
    changes: [putSession(amend(session, { identity: { launch: { ...session.identity.launch, envFile } } }))],
  });
  await store.commit({ changes: [admitMessage(makeMessage("a", "m", { text: "use tok3n-value now" }))] });
  expect(raw.mailbox.get("m")?.text).toBe("use \u0001FROM_FILE\u0002 now");
  expect(store.mailbox.get("m")?.text).toBe("use tok3n-value now");
});
