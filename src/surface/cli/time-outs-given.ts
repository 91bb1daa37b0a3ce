/** `--timeouts turn=30m:interrupt`, as often as needed. Pure; the daemon knows what is possible. */
import type { InputOf } from "../../client/operation-types.ts";
import { durationMs } from "../../platform/duration.ts";
import { TIME_OUT_ACTIONS, TIME_OUT_NAMES, type TimeOutName } from "../../session/time-out.ts";
import { usage } from "./usage.ts";
import { oneLine } from "./session-text.ts";

type Given = NonNullable<InputOf<"startSession">["timeouts"]>;

export function timeOutsGiven(texts: readonly string[]): Given | undefined {
  if (texts.length === 0) return undefined;
  const given: { -readonly [Name in TimeOutName]?: Given[Name] } = {};
  for (const text of texts) {
    const [, written = "", after = "", then] = /^([a-z_-]+)=([^:=]+)(?::([a-z]+))?$/.exec(text) ?? [];
    const name = TIME_OUT_NAMES.find((known) => known === written.replace("-", "_"));
    if (name === undefined)
      throw usage(
        "bad-value",
        `--timeouts takes WHICH=TIME or WHICH=TIME:ACTION, such as turn=30m:interrupt, not "${oneLine(text)}"; there are ${TIME_OUT_NAMES.join(", ")}.`,
      );
    const action = TIME_OUT_ACTIONS.find((known) => known === then);
    if (then !== undefined && action === undefined)
      throw usage("bad-value", `--timeouts ${name} cannot do "${then}"; it can ${TIME_OUT_ACTIONS.join(", ")}.`);
    // oxlint-disable-next-line unicorn/no-thenable -- the field has this name; nobody awaits it
    given[name] = action === undefined ? afterOf(after) : { after: afterOf(after), then: action };
  }
  return given;
}

/** A number alone is seconds; the daemon says what is wrong with the rest. */
function afterOf(text: string): number | string {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
  const ms = durationMs(text);
  return ms === null ? text : ms / 1_000;
}
