/** A line for each event: local time, the session's name, what happened. */
import type { EventView, SessionView } from "../../client/operation-types.ts";
import { eventSentence } from "../../session/event-sentence.ts";
import { eventTone } from "./event-tone.ts";
import { localTime } from "../../platform/local-time.ts";
import { paint } from "./paint.ts";
import { oneLine } from "./session-text.ts";
import { asciiRuler } from "./text-ruler.ts";
import { textIn } from "../../session/text-in.ts";
import { wrapped } from "./wrap.ts";

export interface EventLines {
  line(event: EventView): string;
}

export interface EventLook {
  readonly hasColour: boolean;
  readonly now: () => Date;
  /** Of the terminal; null where one event is one line, however long. */
  readonly width: number | null;
}

/** Names are those of the moment; what is planned or renamed meanwhile is learnt from the events themselves. */
export function eventLines(
  sessions: readonly Pick<SessionView, "session_id" | "name">[],
  { hasColour, now, width: room }: EventLook,
): EventLines {
  const names = new Map(sessions.map(({ session_id: id, name }) => [id, oneLine(name)]));
  let width = Math.min(WIDEST_NAME, Math.max(DAEMON.length, ...[...names.values()].map((name) => name.length)));
  const nameOf = ({ session_id: id, type, data }: EventView): string => {
    if (id === null) return DAEMON;
    const told = type === "session-planned" || type === "session-renamed" ? textIn(data, "name") : null;
    if (told !== null) names.set(id, oneLine(told));
    return names.get(id) ?? id;
  };
  return {
    line(event) {
      const name = nameOf(event);
      width = Math.min(WIDEST_NAME, Math.max(width, name.length));
      const tone = eventTone(event);
      const sentence = oneLine(eventSentence(event));
      const time = localTime(new Date(event.at), now());
      const [shownTime, shownName] = hasColour ? [paint("quiet", time), paint("strong", name)] : [time, name];
      const padding = " ".repeat(Math.max(0, width - name.length));
      const margin = " ".repeat(time.length + GAP.length + width + GAP.length);
      const parts = wrapped(sentence, NO_MARGIN, room === null ? null : room - margin.length, asciiRuler)
        .trimEnd()
        .split("\n")
        .map((part) => (hasColour && tone !== null ? paint(tone, part) : part));
      return `${shownTime}${GAP}${shownName}${padding}${GAP}${parts.join(`\n${margin}`)}\n`;
    },
  };
}

/** Of what happened to no session. */
const DAEMON = "(daemon)";
const WIDEST_NAME = 24;
const GAP = "  ";
const NO_MARGIN = { first: "", next: "" };
