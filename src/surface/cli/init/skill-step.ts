/** The skill that teaches an agent to orchestrate with Reeve: one file, where the agent looks for skills. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeEmptyDirectory } from "./empty-directory.ts";
import type { Step } from "./step.ts";

export function skillStep(shipped: string, skillsDir: string): Step {
  const content = readFileSync(shipped, "utf8");
  const path = join(skillsDir, "reeve", "SKILL.md");
  return {
    state: !existsSync(path) ? "absent" : readFileSync(path, "utf8") === content ? "ours" : "theirs",
    doing: `write ${path}`,
    undoing: `delete ${path}`,
    theirs: `${path} is not as this version of Reeve writes it, so it stays as it is. Delete it to get this version's.`,
    isNeeded: false,
    async make() {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    },
    async takeBack() {
      rmSync(path);
      removeEmptyDirectory(dirname(path));
      removeEmptyDirectory(skillsDir);
    },
  };
}
