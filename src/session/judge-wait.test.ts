/** What a wait is told, by the whole table of what may have happened. */
import { momentOf } from "./moment.ts";
import type { Amendment } from "./amend.ts";
import { describe, expect, test } from "vitest";
import { askOf } from "./ask.ts";
import type { Ask } from "./ask.ts";
import { emptyCourse, follow } from "./course.ts";
import type { EventBody, LoggedEvent } from "./event.ts";
import type { Input } from "./input.ts";
import { judge } from "./judge-wait.ts";
import type { Judgement, Subject } from "./judge-wait.ts";
import type { Message } from "./message.ts";
import { created, exitedWith, read, run } from "./run-inputs.ts";
import { evidence, place, plannedSession, shown } from "./session-fixture.ts";
import type { Session } from "./session.ts";
import type { WakeReason } from "./wake.ts";

const idle = read({ activity: "idle" });
const started = read({ turn: { phase: "started" } });
const completed = read({ turn: { phase: "completed" } });
const failed = read({ turn: { phase: "failed", error: "429" } });
const stalled: Input = { type: "stalled", incarnation: 1, evidence };
const hung: Input = { type: "examined", incarnation: 1, pulse: { verdict: "hung", evidence } };
const goesOn: Input = { type: "examined", incarnation: 1, pulse: { verdict: "healthy", evidence } };
const ask: Input = read({
  approval: { requested: { id: "p", kind: "command", title: "Run rm?", subject: null, cwd: null, reason: null } },
});
const approve: Input = { type: "answer", approvalId: "p", decision: "approved" };
const answered = read({ approval: { settled: { id: "p", decision: "approved" } } });
const cleared: Input = { type: "cleared", incarnation: 1, isPlaceGone: true, evidence };

/** A step of a story: an input, or what becomes of a message. */
type Step =
  | Input
  | { readonly type: "sent"; readonly id: string; readonly submit?: false }
  | { readonly type: "taken"; readonly id: string; readonly turn?: number }
  | { readonly type: "refused" | "lost"; readonly id: string };

const sent = (id = "m"): Step => ({ type: "sent", id });
const taken = (turn?: number, id = "m"): Step => ({ type: "taken", id, ...(turn === undefined ? {} : { turn }) });

class Story {
  session: Session;
  readonly events: LoggedEvent[] = [];
  readonly messages = new Map<string, Message>();

  constructor(changes: Amendment = {}) {
    this.session = plannedSession(changes);
    const reason = { code: "start", text: "", evidence };
    this.#log({ type: "session-starting", incarnation: 1, reason });
    this.tell(created);
  }

  tell(...steps: readonly Step[]): this {
    for (const step of steps) this.#step(step);
    return this;
  }

  /** `since` is the number of an event, "now", or nothing; `afterMs` is how long ago the last thing happened. */
  judge({ since, wanted = [], afterMs = 0, clockSetBy = 0 }: Question = {}): Judgement {
    const [subject, from] = this.#subject(since);
    const course = emptyCourse(from);
    for (const event of this.events) if (event.seq > from) follow(course, event);
    const open = [...this.messages.values()].filter(({ state }) => state === "admitted");
    const message = (id: string): Message | undefined => this.messages.get(id);
    return judge({
      session: this.session,
      subject,
      course,
      wanted: new Set(wanted),
      open,
      message,
      now: { at: NOW + afterMs + clockSetBy, boot: "", upMs: NOW + afterMs },
    });
  }

  /** In words: `ok turn-completed`, `woke exited`, `barred turn-failed`, `nothing`, `pending`. */
  told(question: Question = {}): string {
    const judgement = this.judge(question);
    if (judgement.is === "happened") return `${judgement.ok ? "ok" : "woke"} ${judgement.wake.reason}`;
    return judgement.is === "barred" ? `barred ${judgement.wake.reason}` : judgement.is;
  }

  lastAsk(): number {
    return this.events.findLast((event) => askOf(event) !== null)?.seq ?? 0;
  }

  #subject(since: Question["since"]): [Subject, number] {
    const askAt = (seq: number): Ask | null =>
      this.events.flatMap((event) => (event.seq === seq ? askOf(event) : []))[0] ?? null;
    if (since === undefined) return [{ kind: "newest", ask: askAt(this.lastAsk()) }, this.lastAsk()];
    const from = since === "now" ? this.events.length : since;
    const about = askAt(from);
    return [about === null || since === "now" ? { kind: "cursor" } : { kind: "ask", ask: about }, from];
  }

  #step(step: Step): void {
    switch (step.type) {
      case "sent":
        this.messages.set(step.id, message(step.id, { submit: step.submit ?? true }));
        return this.#log({ type: "message-admitted", messageId: step.id, bytes: 1 });
      case "taken":
        this.#settle(step.id, "delivered");
        return this.#log({
          type: "message-delivered",
          messageId: step.id,
          evidence,
          ...(step.turn === undefined ? {} : { turn: step.turn }),
        });
      case "refused":
        this.#settle(step.id, "refused");
        return this.#log({ type: "message-refused", messageId: step.id, reason: { code: "r", text: "no", evidence } });
      case "lost":
        this.#settle(step.id, "unknown");
        return this.#log({ type: "message-unknown", messageId: step.id, reason: { code: "u", text: "?", evidence } });
      default: {
        const { session, events } = run(this.session, step);
        this.session = session;
        for (const body of events) this.#log(body);
      }
    }
  }

  #settle(id: string, state: Message["state"]): void {
    this.messages.set(id, {
      ...message(id, this.messages.get(id)),
      state,
      settled: momentOf({ now: NOW, random: 0 }),
      detail: "why",
    });
  }

  #log(body: EventBody): void {
    this.events.push({ seq: this.events.length + 1, at: NOW, sessionId: "abc", caller: null, body });
  }
}

interface Question {
  readonly since?: number | "now" | undefined;
  readonly wanted?: readonly WakeReason[];
  readonly afterMs?: number;
  readonly clockSetBy?: number;
}

const NOW = 2_000;
const LATER = { afterMs: 60_000 };

function message(id: string, fields: Partial<Message> = {}): Message {
  return {
    id,
    sessionId: "abc",
    position: 1,
    text: "x",
    submit: true,
    how: "queue",
    caller: "operator",
    intendedTurn: 1,
    answers: null,
    state: "admitted",
    admittedAt: NOW,
    settled: null,
    detail: null,
    ...fields,
  };
}

const withPrompt = { identity: { launch: { ...plannedSession().identity.launch, prompt: "go" } } };

describe("a paused session", () => {
  const pause: Input = { type: "pause", mode: "detach" };
  const suspend: Input = { type: "pause", mode: "suspend" };

  test.each<[string, readonly Step[], string]>([
    ["with a message that is held back", [idle, pause, sent()], "nothing"],
    ["in its turn, which goes on", [idle, started, pause], "pending"],
    ["in its turn, which was stopped with it", [idle, started, suspend], "nothing"],
    ["whose turn is over", [idle, started, completed, pause], "ok turn-completed"],
    ["that asks", [idle, started, ask, pause], "woke awaiting-approval"],
    ["with an answer that is held back", [idle, started, ask, pause, approve], "nothing"],
    ["that took its message a moment ago", [idle, sent(), taken(), pause], "pending"],
    ["that goes on", [idle, pause, sent(), { type: "resume" }], "pending"],
  ])("%s: %s", (_what, steps, expected) => {
    const story = new Story().tell(...steps);
    expect(story.told()).toBe(expected);
    if (expected === "nothing")
      expect(story.judge()).toMatchObject({ why: expect.stringContaining("reeve resume") as string });
  });

  test("after a cursor too, where something waits or nothing in it can go on; its process may exit at any time", () => {
    const since = "now";
    expect(new Story().tell(idle, pause, sent()).told({ since })).toBe("nothing");
    expect(new Story().tell(idle, pause).told({ since })).toBe("pending");
    expect(new Story().tell(idle, started, suspend).told({ since })).toBe("nothing");
    expect(new Story().tell(idle, started, suspend).told({ since, wanted: ["exited"] })).toBe("pending");
  });
});

describe("without a cursor: what became of what was asked last", () => {
  test.each<[string, readonly Step[], string]>([
    ["starting", [], "pending"],
    ["started with a prompt, ready for a moment", [idle], "pending"],
    ["working", [idle, started], "pending"],
    ["its turn is over", [idle, started, completed], "ok turn-completed"],
    ["its turn failed", [idle, started, failed], "woke turn-failed"],
    ["asking", [idle, started, ask], "woke awaiting-approval"],
    ["the answer is on its way", [idle, started, ask, approve], "pending"],
    ["answered in the pane, working", [idle, started, ask, answered], "pending"],
    ["answered in the pane, over", [idle, started, ask, answered, completed], "ok turn-completed"],
    ["stalled", [idle, started, stalled], "woke stalled"],
    ["stalled, then asking: the question is what helps", [idle, started, stalled, ask], "woke awaiting-approval"],
    ["hung", [idle, started, hung], "woke stalled"],
    ["hung, then going on", [idle, started, hung, goesOn], "pending"],
    ["stalled, then over", [idle, started, stalled, completed], "ok turn-completed"],
    ["dead in its turn", [idle, started, exitedWith(1)], "woke exited"],
    ["dead after its turn", [idle, started, completed, exitedWith(0)], "woke exited"],
    [
      "unreachable in its turn",
      [idle, started, { type: "found-unreachable", incarnation: 1, asked: place, evidence }],
      "pending",
    ],
    ["being ended after its turn", [idle, started, { type: "end", graceMs: 0, afterTurn: true }], "pending"],
    ["a message that waits", [idle, started, completed, sent()], "pending"],
    ["a message sent in a turn that is over", [idle, started, sent(), completed], "pending"],
    ["a message whose turn is under way", [idle, started, completed, sent(), started, taken(2)], "pending"],
    [
      "a message whose turn is over",
      [idle, started, failed, sent(), started, taken(2), completed],
      "ok turn-completed",
    ],
    ["over before it was noted", [idle, started, failed, sent(), started, completed, taken(2)], "ok turn-completed"],
    ["put into the turn", [idle, started, sent(), taken(1), completed], "ok turn-completed"],
    [
      "taken by nobody knows which turn",
      [idle, started, sent(), failed, taken(), started, completed],
      "ok turn-completed",
    ],
    ["refused", [idle, started, completed, sent(), { type: "refused", id: "m" }], "nothing"],
    ["perhaps lost", [idle, started, completed, sent(), { type: "lost", id: "m" }], "nothing"],
    ["perhaps lost, but a turn began", [idle, started, failed, sent(), { type: "lost", id: "m" }, started], "pending"],
    [
      "perhaps lost, but a turn came",
      [idle, sent(), { type: "lost", id: "m" }, started, completed],
      "ok turn-completed",
    ],
    ["typed without Enter", [idle, started, completed, { type: "sent", id: "m", submit: false }, taken(2)], "nothing"],
    ["the answer to its question is being typed", [idle, started, ask, sent(), taken(1)], "pending"],
    ["a message that waited before it asked is no answer", [idle, started, sent(), ask], "woke awaiting-approval"],
    ["a later turn, begun in the pane", [idle, started, completed, started], "pending"],
    ["a later turn, over", [idle, started, completed, started, failed], "woke turn-failed"],
  ])("%s: %j", (_what, steps, told) => {
    expect(new Story(withPrompt).tell(...steps).told()).toBe(told);
  });

  test("what time decides: a prompt that nobody takes, a message that begins no turn, a question that stays", () => {
    const prompt = new Story(withPrompt).tell(idle);
    expect([prompt.judge(), prompt.told(LATER)]).toEqual([{ is: "pending", again: true }, "nothing"]);
    const typed = new Story().tell(idle, started, completed, sent(), taken(2));
    expect([typed.judge(), typed.told(LATER)]).toEqual([{ is: "pending", again: true }, "nothing"]);
    const asking = new Story().tell(idle, started, ask, sent(), taken(1));
    expect([asking.told(), asking.told(LATER)]).toEqual(["pending", "woke awaiting-approval"]);
  });

  test("a wall clock that was set says nothing of how long ago a message arrived", () => {
    const story = new Story().tell(idle, sent(), taken());
    for (const clockSetBy of [-3_600_000, 3_600_000]) {
      expect(story.told({ clockSetBy })).toBe("pending");
      expect(story.told({ clockSetBy, ...LATER })).toBe("nothing");
    }
  });

  test("never asked anything", () => {
    const why = (story: Story): string => {
      const judgement = story.judge(LATER);
      return judgement.is === "nothing" ? judgement.why : judgement.is;
    };
    expect(why(new Story())).toBe("pending");
    expect(why(new Story().tell(idle))).toMatch(/^It was started without a prompt and has been asked nothing since/);
    expect(why(new Story().tell(idle, sent(), { type: "refused", id: "m" }))).toMatch(/was refused \(why\)/);
    expect(why(new Story().tell(idle, sent(), { type: "lost", id: "m" }))).toMatch(
      /not known whether its last message/,
    );
    expect(why(new Story().tell(idle, sent(), taken(1)))).toMatch(/delivered, but no turn has begun/);
  });

  test("started again: on request it waits for what is asked next, by its policy the turn is lost", () => {
    const again: Input = { type: "created", incarnation: 2, place: { id: "%2" }, shown, evidence };
    const idleAgain: Input = {
      type: "read",
      incarnation: 2,
      reading: { source: "hook", detail: "", activity: "idle" },
    };
    const restarted = new Story().tell(idle, started, { type: "restart", graceMs: 0 }, exitedWith(0), cleared, again);
    expect(restarted.tell(idleAgain).told(LATER)).toBe("nothing");
    const dead = new Story({ identity: { restartPolicy: "always" } }).tell(idle, started, exitedWith(1));
    expect(dead.told()).toBe("woke exited");
    const up = dead.tell(cleared, { type: "restart-due" }, again, idleAgain);
    expect(up.told(LATER)).toBe("woke exited");
    expect(up.tell(sent()).told()).toBe("pending");
  });

  test("a program without turns is waited for until it exits", () => {
    const program = (code?: number): Story =>
      new Story({ identity: { hasTurns: false } }).tell(...(code === undefined ? [] : [exitedWith(code)]));
    expect([program().told(LATER), program(0).told(), program(3).told()]).toEqual([
      "pending",
      "ok exited",
      "woke exited",
    ]);
    expect(program().told({ wanted: ["turn-completed"] })).toBe("nothing");
    expect(program(3).told({ wanted: ["exited"] })).toBe("ok exited");
  });
});

describe("for one reason: until it happened, or cannot happen any more", () => {
  const COMPLETED = ["turn-completed"] as const;
  test.each<[string, readonly Step[], readonly WakeReason[], string]>([
    ["completed", [idle, started, completed], COMPLETED, "ok turn-completed"],
    ["failed", [idle, started, failed], COMPLETED, "barred turn-failed"],
    ["asking", [idle, started, ask], COMPLETED, "barred awaiting-approval"],
    ["stalled may go on", [idle, started, stalled], COMPLETED, "pending"],
    ["dead", [idle, started, exitedWith(0)], COMPLETED, "barred exited"],
    ["dead after it completed", [idle, started, completed, exitedWith(0)], COMPLETED, "ok turn-completed"],
    ["completed without asking", [idle, started, completed], ["awaiting-approval"], "barred turn-completed"],
    ["completed without stalling", [idle, started, completed], ["stalled"], "barred turn-completed"],
    ["it may exit at any time", [idle, started, ask], ["exited"], "pending"],
    ["exited", [idle, started, exitedWith(1)], ["exited"], "ok exited"],
    ["one of two", [idle, started, failed], ["turn-completed", "turn-failed"], "ok turn-failed"],
  ])("%s", (_what, steps, wanted, told) => {
    const story = new Story(withPrompt).tell(...steps);
    expect(story.told({ wanted })).toBe(told);
    expect(story.told({ wanted, since: 0 })).toBe(told);
  });
});

describe("with a cursor", () => {
  test("each wake once and in order, what is before it is known", () => {
    const story = new Story().tell(idle, started, ask, answered, completed, started, failed);
    const reasons: string[] = [];
    for (let since = 0; ;) {
      const judgement = story.judge({ since });
      if (judgement.is !== "happened") break;
      reasons.push(judgement.wake.reason);
      since = judgement.wake.seq;
    }
    expect(reasons).toEqual(["awaiting-approval", "turn-completed", "turn-failed"]);
    expect(story.told({ since: "now" })).toBe("pending");
    expect(new Story().tell(idle, started, ask).told({ since: "now", wanted: ["turn-completed"] })).toBe("pending");
  });

  test("one end is one wake, and reaches also those whose cursor is past it", () => {
    const dead = new Story().tell(idle, started, exitedWith(1));
    const judgement = dead.judge({ since: 0 });
    expect(judgement).toMatchObject({ is: "happened", wake: { reason: "exited" } });
    expect(dead.told({ since: "now" })).toBe("woke exited");
  });

  test("of an ask: what came of it, however much was asked since", () => {
    const story = new Story().tell(idle, sent("one"));
    const one = story.lastAsk();
    story.tell(started, taken(1, "one"), sent("two"));
    const two = story.lastAsk();
    expect([story.told({ since: one }), story.told({ since: two })]).toEqual(["pending", "pending"]);
    story.tell(failed);
    expect([story.told({ since: one }), story.told({ since: two })]).toEqual(["woke turn-failed", "pending"]);
    story.tell(started, taken(2, "two"), completed);
    expect([story.told({ since: one }), story.told({ since: two })]).toEqual(["woke turn-failed", "ok turn-completed"]);
  });

  test("a message that was refused since is told", () => {
    const story = new Story().tell(idle, started, completed);
    const since = story.events.length;
    expect(story.tell(sent(), { type: "refused", id: "m" }).told({ since })).toBe("nothing");
  });
});
