/**
 * Mail among twenty sessions while the daemon is killed again and
 * again. None is lost, none doubled, none out of order between the same two.
 * REEVE_TEST_MAILS=10000 REEVE_TEST_KILLS=10 makes it the long run.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client/create-client.ts";
import type { OutputOf } from "../../src/client/operation-types.ts";
import { clientOf, operatorOf } from "../support/session-caller.ts";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { createRandom } from "../truth/random.ts";

const SESSIONS = 20;
const MAILS = Number(process.env["REEVE_TEST_MAILS"] ?? 1_000);
const KILLS = Number(process.env["REEVE_TEST_KILLS"] ?? 3);
const SEED = "mail";
/** Each session reads what it finds after so many of its own. */
const READ_EVERY = 10;
const PATIENCE_MS = 120_000 + MAILS * 100;

let home: TestHome;
beforeAll(() => {
  home = createTestHome();
});
afterAll(() => home.dispose(), 120_000);

type Mail = OutputOf<"checkMail">["mails"][number];

interface Member {
  readonly id: string;
  readonly client: Client;
}

test(
  `${MAILS} mails among ${SESSIONS} sessions and ${KILLS} kills of the daemon`,
  { timeout: PATIENCE_MS },
  async () => {
    const operator = operatorOf(home, { enduranceMs: 60_000 });
    const members = await startMembers(operator);
    const random = createRandom(SEED);
    const state = { sent: 0, kills: 0, isOver: false };
    const expected = new Map<string, string[]>();

    const killer = (async () => {
      while (state.kills < KILLS && !state.isOver) {
        const due = ((state.kills + 1) * MAILS) / (KILLS + 1);
        await eventually("more is sent", () => state.isOver || state.sent >= due, PATIENCE_MS);
        if (home.killRunningDaemon()) state.kills += 1;
        else await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();

    await Promise.all(
      members.map(async ({ id, client }, index) => {
        const share = Math.floor(MAILS / SESSIONS) + (index < MAILS % SESSIONS ? 1 : 0);
        for (let sent = 1; sent <= share; sent += 1) {
          const to = random.pick(members).id;
          const pair = expected.get(`${id} ${to}`) ?? [];
          expected.set(`${id} ${to}`, pair);
          const body = `${id} to ${to}, number ${pair.length + 1}`;
          pair.push(body);
          await client.sendMail({ to, body, kind: sent % 7 === 0 ? "hand-off" : "note" });
          state.sent += 1;
          if (sent % READ_EVERY === 0) await readSome(client);
        }
      }),
    );
    state.isOver = true;
    await killer;
    expect(state).toMatchObject({ sent: MAILS, kills: KILLS });

    const boxes = await Promise.all(members.map(async ({ id }) => ({ id, mails: await wholeBox(operator, id) })));
    const all = boxes.flatMap(({ mails }) => mails);
    expect(all).toHaveLength(MAILS);
    expect(new Set(all.map(({ mail_id: id }) => id)).size).toBe(MAILS);
    const got = new Map<string, string[]>();
    for (const mail of all.toSorted((one, other) => one.seq - other.seq)) {
      const pair = `${mail.from.session_id} ${mail.to.session_id}`;
      got.set(pair, [...(got.get(pair) ?? []), mail.preview]);
    }
    expect(Object.fromEntries(got)).toEqual(Object.fromEntries(expected));
    await expectCounts(operator, boxes);
  },
);

async function startMembers(operator: Client): Promise<readonly Member[]> {
  const members: Member[] = [];
  for (let number = 1; number <= SESSIONS; number += 1) {
    const input = { agent: "command", name: `m-${number}`, args: ["sleep", "3600"], cwd: "/" };
    const session = await operator.startSession({ ...input, environment: { PATH: "/usr/bin:/bin" } });
    members.push({ id: session.session_id, client: await clientOf(home, session, { enduranceMs: 60_000 }) });
  }
  return members;
}

/** Every third of what it reads it archives. */
async function readSome(client: Client): Promise<void> {
  const { mails } = await client.checkMail({ unread: true, limit: 4 });
  for (const [index, { mail_id: mail }] of mails.entries()) {
    expect(await client.readMail({ mail })).toMatchObject({ mail_id: mail, state: "read" });
    if (index % 3 === 2) await client.archiveMail({ mail });
  }
}

async function wholeBox(operator: Client, session: string): Promise<readonly Mail[]> {
  const found: Mail[] = [];
  let page: string | undefined;
  do {
    const answer = await operator.checkMail({ session, archived: true, limit: 200, ...(page && { page }) });
    found.push(...answer.mails);
    page = answer.next_page ?? undefined;
  } while (page !== undefined);
  return found;
}

/** The count in memory is what the records say, and so are the events. */
async function expectCounts(
  operator: Client,
  boxes: readonly { readonly id: string; readonly mails: readonly Mail[] }[],
): Promise<void> {
  for (const { id, mails } of boxes) {
    const unread = mails.filter(({ state }) => state === "unread");
    const handOffs = unread.filter(({ kind }) => kind === "hand-off");
    expect(await operator.checkMail({ session: id, limit: 1 })).toMatchObject({
      unread: unread.length,
      hand_offs: handOffs.length,
    });
  }
  const events = (await home.events()).filter(({ type }) => type.startsWith("mail-"));
  const ofType = (type: string): readonly string[] =>
    events.filter((event) => event.type === type).map(({ data }) => String(data["mail_id"]));
  const all = boxes.flatMap(({ mails }) => mails);
  const idsOf = (wanted: (mail: Mail) => boolean): readonly string[] => all.filter(wanted).map(({ mail_id: id }) => id);
  expect(ofType("mail-sent").toSorted()).toEqual(idsOf(() => true).toSorted());
  expect(ofType("mail-read").toSorted()).toEqual(idsOf((mail) => mail.read_at !== null).toSorted());
  expect(ofType("mail-archived").toSorted()).toEqual(idsOf((mail) => mail.archived_at !== null).toSorted());
  const seqs = new Map(
    events.filter(({ type }) => type === "mail-sent").map(({ seq, data }) => [data["mail_id"], seq]),
  );
  for (const { mail_id: id, seq } of all) expect(seqs.get(id)).toBe(seq);
}
