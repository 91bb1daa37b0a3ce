/** What happens in the recording, and how long each picture of it is shown. */
import { eventually } from "../../test/support/eventually.ts";
import type { TestHome } from "../../test/support/test-home.ts";
import type { Film, Frame } from "./film.ts";
import { buildStage, PROJECT } from "./stage.ts";
import { openTerminal } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";

const SIZE = { columns: 100, rows: 26 } as const;

/** What the model does for each prompt. */
const MEANINGS = {
  "Fix the failing checkout test": `[[tool Bash {"command":"npm test","description":"See whether both tests pass"}]] [[say Fixed. Both tests pass now.]]`,
  "How are prices rounded?": "[[say Prices are whole cents, never rounded.]]",
  "Write the release notes": "[[hang]]",
  "Upgrade the date library": "[[hang]]",
} as const;

const STARTS = [
  ["checkout", `reeve start claude --name checkout "Fix the failing checkout test"`],
  ["prices", `reeve start codex --name prices "How are prices rounded?"`],
  ["notes", `reeve start gemini --name notes "Write the release notes"`],
  ["dates", `reeve start codex --name dates "Upgrade the date library"`],
  ["server", `reeve start command --name server -- npm run dev`],
] as const;

export async function playStory(): Promise<Film> {
  const stage = await buildStage(MEANINGS);
  try {
    const { environment, shell, home } = stage;
    const terminal = await openTerminal({ ...SIZE, directory: home.dir, cwd: PROJECT, environment, shell });
    try {
      const frames = await film(home, terminal);
      return { title: "Reeve: five agents, one asks, the daemon is killed, all are still there", ...SIZE, frames };
    } finally {
      await terminal.close();
    }
  } finally {
    await stage.dispose();
  }
}

async function film(home: TestHome, terminal: Terminal): Promise<readonly Frame[]> {
  const frames: Frame[] = [];
  let caption = "";
  const shoot = async (ms: number): Promise<void> => void frames.push({ ...(await terminal.shoot()), ms, caption });
  /** Types a line, with a picture after every few letters, and leaves it there for a moment. */
  const type = async (line: string, letters: number): Promise<void> => {
    for (let at = 0; at < line.length; at += letters) {
      await terminal.type(line.slice(at, at + letters));
      await terminal.ends(`$ ${line.slice(0, at + letters).trimEnd()}`);
      await shoot(60);
    }
    await shoot(400);
  };
  const enter = async (until: RegExp): Promise<void> => {
    await terminal.press("Enter");
    await terminal.shows(until);
  };

  caption = "You start five agents.";
  await terminal.ends("shop $");
  await shoot(500);
  for (const [index, [name, line]] of STARTS.entries()) {
    await type(line, index === 0 ? 3 : 14);
    await enter(new RegExp(String.raw`Started ${name}[^]*\nshop \$\s*$`));
    await shoot(index === STARTS.length - 1 ? 1500 : 300);
  }

  caption = "The board shows who needs you.";
  await type("reeve", 1);
  await settled(home);
  await enter(/^Reeve .*1 needs you/m);
  await terminal.press("g");
  await terminal.shows(/^> checkout [^]*a approves[^]*Do you want to proceed/m);
  // Long enough for a person to read it; before that the board takes no answer.
  for (let second = 0; second < 3; second += 1) {
    await shoot(1700);
    const age = (await terminal.shows(/^> checkout .*needs you +\d+s/m)).split(" ").at(-1);
    await terminal.shows(new RegExp(String.raw`^> checkout .*needs you +(?!${age} )\d+s`, "m"));
  }

  caption = "You press a: approved.";
  await terminal.press("a");
  await terminal.shows(/^> checkout .*(?:working|finished)/m);
  await shoot(2500);
  caption = "It ran the tests and finished. v shows what it said.";
  await terminal.shows(/^> checkout .*(?:finished|idle)/m);
  await terminal.press("v");
  await terminal.shows(/^> checkout .*Both tests pass now[^]*Transcript[^]*Both tests pass now/m);
  await shoot(4000);
  await terminal.press("q");

  caption = "You kill Reeve's daemon.";
  await terminal.ends("shop $");
  await shoot(500);
  const before = await processesOf(home);
  home.expectDeath(await home.daemonPid());
  await type("kill -9 $(reeve daemon status --json | jq .pid)", 3);
  await enter(/jq .pid\)\s+shop \$\s*$/);
  await shoot(1500);
  await type("reeve list", 1);
  await enter(/3 working.*\s+shop \$\s*$/);
  if ((await processesOf(home)) !== before) throw new Error("They are not the same processes as before the kill.");
  caption = "All five are still there, with the same processes.";
  await shoot(6500);
  return frames;
}

/** Two agents are at work, one has finished, and one asks. */
async function settled(home: TestHome): Promise<void> {
  const expected = { checkout: "awaiting-approval", prices: "idle", notes: "working", dates: "working" };
  const isSettled = async (): Promise<boolean> => {
    const rows = await home.list();
    return Object.entries(expected).every(([name, activity]) =>
      rows.some((row) => row.name === name && row["activity"] === activity),
    );
  };
  await eventually("the agents are where the story wants them", isSettled, 60_000);
}

async function processesOf(home: TestHome): Promise<string> {
  const rows = await home.list();
  return rows
    .map(({ name, state, runtime }) => `${name} ${state} ${runtime.pid}`)
    .toSorted()
    .join("\n");
}
