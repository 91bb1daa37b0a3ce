/** A start that is too large to be executed is refused before anything of it is recorded. */
import { expect, test } from "vitest";
import { askDaemon } from "../support/ask-daemon.ts";
import { inHome } from "../support/in-home.ts";

test("a start that no program can be given is refused, is not listed, and says what is too large", () =>
  inHome("", async (home) => {
    await home.json("start", "command", "--name", "one", "--", "sleep", "600");
    const start = (more: object) =>
      askDaemon<{ code: string; detail: string }>(home, "/v1/sessions", {
        agent: "command",
        args: ["sleep", "600"],
        cwd: "/",
        environment: { PATH: "/usr/bin:/bin" },
        ...more,
      });
    const variables = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`V${index}`, "x"]));
    for (const [more, what] of [
      [{ environment: { PATH: "/usr/bin:/bin", ...variables } }, "Its environment has 100,00"],
      [{ env: { BIG: "x".repeat(200_000) } }, "The variable BIG is 200,004 bytes long"],
      [
        { args: ["echo", ...Array.from({ length: 900 }, () => "x".repeat(5_000))] },
        "Its arguments and environment have 4,5",
      ],
      [{ args: ["echo", "x".repeat(140_000)] }, "Argument 1 of its command is 140,000 bytes long"],
    ] as const) {
      const refused = await start(more);
      expect(refused).toMatchObject({ code: "start-too-large" });
      expect(refused?.detail).toContain(what);
    }
    expect((await home.list()).map(({ name }) => name)).toEqual(["one"]);
  }));
