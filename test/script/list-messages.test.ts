/** Which texts of a module are taken for ones that people read, and how they are shown. */
import { expect, it } from "vitest";
import { textsOf } from "../../script/list-messages.ts";

it("finds texts wherever they are written, each once, with {names} for what is filled in", () => {
  const module = `
    import { a } from "two words.ts";
    type Kind = "not a text";
    throw new ReeveError({ code: "no-such", message: \`There is no session "\${session.name}"; see \${quote(path)}.\` });
    log("the disk is full", { why });
    log("the disk is full");
    const title = isOpen ? "is still open" : "was closed";
    print("The end of " + name + " goes on.");
    print(\`\${count} of them\${isAll ? " and no other one" : ""}\`);
  `;
  expect(textsOf(module)).toEqual([
    'There is no session "{name}"; see {path}.',
    "the disk is full",
    "is still open",
    "was closed",
    "The end of {name} goes on.",
    "{count} of them{…}",
    "and no other one",
  ]);
});

it("takes a single word only from a property that holds texts; leaves out SQL, codes and types", () => {
  const module = `
    const column = { title: "NAME", code: "no-such-session", summary: isShort ? "short" : other("key") };
    db.prepare("SELECT body FROM sessions WHERE id = ?");
    const [kind, mode] = ["awaiting-approval", "hooks"] satisfies readonly string[];
  `;
  expect(textsOf(module)).toEqual(["NAME", "short"]);
});
