import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { calledAs } from "./called-as.ts";

let root: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "reeve-")));
  mkdirSync(join(root, "bin"));
  mkdirSync(join(root, "path"));
  writeFileSync(join(root, "bin", "reeve"), "");
  chmodSync(join(root, "bin", "reeve"), 0o755);
  symlinkSync(join(root, "bin", "reeve"), join(root, "path", "reeve"));
});
afterAll(() => rmSync(root, { recursive: true }));

it("is what somebody would type again", () => {
  const program = join(root, "bin", "reeve");
  expect(calledAs(program, { PATH: join(root, "path") }, root)).toBe("reeve");
  expect(calledAs(join(root, "path", "reeve"), { PATH: `/nowhere:${join(root, "path")}` }, "/")).toBe("reeve");
  expect(calledAs(program, { PATH: "/nowhere" }, root)).toBe("bin/reeve");
  expect(calledAs(program, { PATH: "/nowhere" }, join(root, "bin"))).toBe("./reeve");
  expect(calledAs(program, {}, join(root, "path"))).toBe(program);
  expect(calledAs(program, { npm_command: "exec" }, root)).toBe("npx reeve");
  expect(calledAs("/a b/reeve", {}, root)).toBe("'/a b/reeve'");
});
