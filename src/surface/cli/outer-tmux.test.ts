import { describe, expect, it } from "vitest";
import { readTakenKeys } from "./outer-tmux.ts";

const DEFAULT = "bind-key    -T prefix C-b     send-prefix\nbind-key    -T prefix d       detach-client\n";
const TWO = "bind-key -r -T prefix a send-prefix\nbind-key -T prefix b send-prefix -2\n";

describe("what the caller's tmux takes", () => {
  it.each<[string, string, string, string[]]>([
    ["as it comes", "C-b\nNone\n", DEFAULT, ["C-b=C-b C-b"]],
    ["another prefix", "C-a\nNone\n", "bind-key    -T prefix C-a  send-prefix\n", ["C-a=C-a C-a"]],
    ["passed on by another key", "C-b\nNone\n", "bind-key    -T prefix b  send-prefix\n", ["C-b=C-b b"]],
    ["a second prefix", "C-a\nC-b\n", TWO, ["C-a=C-a a", "C-b=C-a b"]],
    ["not passed on at all", "C-b\nNone\n", "bind-key    -T prefix d  detach-client\n", ["C-b="]],
    ["no prefix", "None\nNone\n", DEFAULT, []],
  ])("%s", (_what, prefixes, bindings, taken) => {
    expect(readTakenKeys(prefixes, bindings)).toEqual(taken);
  });
});
