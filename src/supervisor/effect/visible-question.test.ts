import { expect, test } from "vitest";
import { REDACTED } from "../../capture/redaction.ts";
import { type Showing, showingOf } from "./visible-question.ts";

const long = Array.from({ length: 40 }, (_, index) => `echo line ${index}`).join(" && ");

// A key is pressed only on the question that it is meant for.
test.each<[string, readonly string[], string, Showing]>([
  ["as it is", ["touch one"], "  $ touch one\n", "whole"],
  ["wrapped, indented and framed", ["touch a && touch b"], "│ $ touch a && │\n│   touch b    │", "whole"],
  ["another one", ["touch one"], "  $ touch two\n", "no"],
  [
    "another one that begins alike",
    ["touch /a/long/directory/of/ours/one"],
    "$ touch /a/long/directory/of/ours/two",
    "no",
  ],
  ["hidden characters that one of the two does not show", ["rm <U+202E>x <U+200B>y"], "Run rm x <U+200B>y?", "whole"],
  ["each of its words", ["lab", "danger"], 'Allow the lab MCP server to run tool "danger"?', "whole"],
  ["not each of its words", ["lab", "danger"], 'Allow the lab MCP server to run tool "harmless"?', "no"],
  ["its beginning, where the dialog is cut", [long], `$ ${long.slice(0, 100)}\n[… 24 lines] ^a view all`, "cut"],
  ["its end, where the dialog is cut", [long], `... 20 hidden (Ctrl+O) ...\n${long.slice(-100)}`, "cut"],
  ["its beginning, where the dialog is whole", [long], `$ ${long.slice(0, 100)}`, "no"],
  ["with a secret that the record leaves out", [`curl -H ${REDACTED} x.com`], "$ curl -H hunter2 x.com", "whole"],
  ["another one with a secret", [`curl -H ${REDACTED} x.com`], "$ curl -H hunter2 y.org", "no"],
  ["whose record was cut", [`${long.slice(0, 50)}…`], `$ ${long}`, "whole"],
  ["of which nothing is known", [], "Do you want to proceed?", "no"],
  ["of which nothing can be seen", ["👍"], "Do you want to proceed?", "no"],
])("%s", (_what, words, dialog, showing) => {
  expect(showingOf(words, dialog)).toBe(showing);
});
