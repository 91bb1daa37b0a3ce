import type { InputOf } from "../../../client/operation-types.ts";
import { usage } from "../usage.ts";
import type { CliCommand, CommandInput } from "../command.ts";
import { forEachSession } from "../each-session.ts";
import { timeGiven } from "../time-given.ts";

export const holdCommand: CliCommand = {
  name: "hold",
  takesKey: true,
  summary: "hold sessions that must stay, so that nothing ends or prunes them",
  arguments: [{ name: "session", isRepeated: true, completion: "session" }],
  options: [
    { name: "reason", value: "TEXT", summary: "why it must stay; whoever wants to end it reads this" },
    { name: "for", value: "TIME", summary: "how long, such as 2h or 3d (default 24h, at most 30d)" },
    { name: "until", value: "TIME", summary: "until when, such as 2026-11-18T09:00" },
    { name: "release", summary: "release it: from now on it is not held" },
  ],
  notes: [
    "The idle and age time-outs of a session that is held do not fire. No session can end it, and you can only with reeve end --even-if-held. Nothing of it is pruned, also after its end.",
    "If you hold it again, the new reason and time count. When a hold ends by itself and the session would then be ended, the inbox tells you before.",
    "A session can hold itself and the sessions that it started, and release what it holds.",
  ],
  examples: [
    { line: 'reeve hold builder --reason "needed for the review"', does: "keep it for 24 hours" },
    { line: "reeve hold builder --for 3d", does: "keep it for three days from now" },
    { line: "reeve hold --release builder", does: "release it" },
  ],

  run(input, context) {
    const request = requestOf(input, Date.now());
    const client = context.client();
    const isReleased = input.flag("release");
    return forEachSession(context, input.arguments, (session) => client.holdSession({ session, ...request }), {
      tell: (name, { held }) =>
        held === null ? `${name} is ${isReleased ? "released" : "not held"}.` : `${name} is held until ${held.until}.`,
    });
  },
};

function requestOf(input: CommandInput, now: number): Omit<InputOf<"holdSession">, "session"> {
  const [reason, forTime, until] = [input.text("reason"), input.text("for"), input.text("until")];
  if (input.flag("release")) {
    if ((reason ?? forTime ?? until) !== undefined)
      throw usage("bad-value", "--release ends a hold; leave --reason, --for and --until out.");
    return { release: true };
  }
  if (forTime !== undefined && until !== undefined)
    throw usage("bad-value", "--for and --until exclude each other; leave one out.");
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(forTime === undefined ? {} : timeGiven("--for", forTime, now)),
    ...(until === undefined ? {} : timeGiven("--until", until, now)),
  };
}
