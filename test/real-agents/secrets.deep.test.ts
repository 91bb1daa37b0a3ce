/**
 * With the real agents: a secret that is in the prompt, in a
 * command that is asked about, in what that prints and in the reply reaches the
 * agent whole, can be approved, and is in no file of Reeve's.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { filesHolding } from "../support/files-holding.ts";
import { CASES, createRig, disposeWhole, type Rig } from "./rig.ts";
import { endNow } from "./session-steps.ts";

const SECRET = "c4n4ry-7f3a91d2e8b64c05a1-end";
const PHRASE = "correct horse 'battery' staple";

describe.each(Object.values(CASES))("$title", { timeout: 180_000 }, (agentCase) => {
  test("a secret in prompt, question, output and reply is in no file of Reeve's", async () => {
    const rig = await createRig(agentCase);
    try {
      const file = join(rig.workDir, SECRET);
      const { session_id: id } = await rig.start(
        `[[shell touch ${file} && echo ${SECRET} ${SECRET}]] [[say it is ${SECRET}, and ${PHRASE}, that is all]]`,
        { options: ["--env", `API_VALUE=${SECRET}`, "--env", `PASSPHRASE=${PHRASE}`] },
      );
      expect(await rig.wait(id, "--since", "0")).toMatchObject({ reason: "awaiting-approval" });
      const asked = await rig.home.run(["approvals", id, "--json"]);
      expect(asked.stdout).toContain("[redacted]");
      expect(asked.stdout).not.toContain(SECRET);
      // A hook's record may be on its way.
      await eventually("no file holds it", () => leaks(rig).length === 0);
      expect((await rig.home.run(["approve", id, "--wait", "--timeout", "90", "--json"])).status).toBe(0);
      expect(existsSync(file)).toBe(true);
      expect(JSON.stringify((await rig.data(id)).messages)).toContain(`it is ${SECRET}`);
      expect((await rig.home.run(["send", id, `[[say again ${SECRET}]]`, "--wait", "--json"])).status).toBe(0);
      await endNow(rig, id);
      await rig.home.json("daemon", "stop");
      expect(leaks(rig)).toEqual([]);
    } finally {
      await disposeWhole(rig);
    }
  });
});

/** Where Gemini CLI keeps its conversations: its own files, in the session's directory. */
const GEMINI_HOME = "/reeve-gemini-home/";

/** Files of Reeve's that hold a secret, or a piece of one; the agent's own home and its work are not Reeve's. */
function leaks({ home, user, workDir }: Rig): readonly string[] {
  return filesHolding(home.dir, [SECRET.slice(0, 12), SECRET.slice(-12), PHRASE.slice(0, 12)]).filter(
    (path) => !path.startsWith(user.dir) && !path.startsWith(workDir) && !path.includes(GEMINI_HOME),
  );
}
