/**
 * A hostile program in a container, through the real CLI and daemon: it writes what it likes wherever it may,
 * floods, fills, forks, lies and will not end. The daemon answers all the time, nothing outside is changed or read, other
 * sessions go on, and `end` leaves nothing.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type DockerEngine, engineImpediment, startDockerEngine } from "../support/docker-engine.ts";
import { createDockerHome, type DockerHome } from "../support/docker-home.ts";
import { eventually } from "../support/eventually.ts";
import { readIfThere } from "../support/read-if-there.ts";

const impediment = engineImpediment();
/** The tmux server of its own container, which it can reach as well as Reeve can. */
const TMUX = "tmux -S /run/reeve/tmux.sock";

describe.skipIf(impediment !== null)(
  `a hostile container${impediment === null ? "" : ` (skipped: ${impediment})`}`,
  () => {
    let engine: DockerEngine;
    let home: DockerHome;
    beforeAll(async () => {
      engine = await startDockerEngine({ liveRestore: true });
    }, 120_000);
    afterAll(() => engine.dispose(), 60_000);
    beforeEach(async () => {
      home = createDockerHome(engine);
      await home.startScript("other", 'while read x; do echo "$x" >>heard; done');
      await home.isRunning("other");
    }, 120_000);
    afterEach(() => home.leave(), 120_000);

    /** Asks the daemon all the time while something is done; the longest answer must be within 5 s. */
    async function answering<T>(work: () => Promise<T>): Promise<T> {
      const over = new AbortController();
      const { list } = home;
      const times: number[] = [];
      const asking = (async () => {
        while (!over.signal.aborted) {
          const startedAt = performance.now();
          await list();
          times.push(performance.now() - startedAt);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      })();
      try {
        return await work();
      } finally {
        over.abort();
        await asking;
        expect(Math.max(...times)).toBeLessThan(5_000);
      }
    }

    const othersGoOn = async (word: string): Promise<void> => {
      expect((await home.run(["send", "other", word])).status).toBe(0);
      await eventually("the other session heard it", () => readIfThere(join(home.workspace, "heard"))?.includes(word));
    };

    const ends = async (name: string): Promise<void> => {
      await home.json("end", name, "--when", "now", "--grace", "0");
      await eventually("it is stopped", async () => (await home.state(name)) === "stopped", 60_000);
      expect(await home.containers(name)).toEqual([]);
    };

    test(
      "what it plants in its session's directory and its workspace leads nowhere",
      { timeout: 180_000 },
      async () => {
        const outside = join(home.dir, "outside");
        mkdirSync(outside, { mode: 0o700 });
        writeFileSync(join(outside, "victim"), "untouched\n", { mode: 0o640 });
        // Every name that Reeve uses there, in the places of files and of directories, again and again.
        // Of devices, the kernel lets it make only 0/0, which is none.
        const script = `read dir; names=$(ls -A "$dir"); echo $names >names
        for d in "c 1 3" "c 5 1" "b 8 0" "b 7 0"; do mknod "$dir/device" $d && echo $d; done >devices 2>refusals
        while :; do for n in $names state.json state.json.tmp runtime.json events.jsonl terminal.cast logs spool; do
          rm -rf "$dir/$n" 2>/dev/null
          case $((i=i+1)) in
            *0|*5) ln -s ${outside}/victim "$dir/$n";; *1|*6) mkfifo "$dir/$n";; *2) mkdir -p "$dir/$n/x";; *7) mknod "$dir/$n" c 0 0;;
            *3|*8) ln -s ${outside} "$dir/$n";; *4) dd if=/dev/zero of="$dir/$n" bs=1 count=1 seek=3000000000;;
            *9) ${TMUX.replace("/run/reeve/tmux.sock", '"$dir/$n"')} new -d;;
          esac
        done 2>/dev/null >/dev/null; echo $i >planted.new; mv planted.new planted; sleep 0.1; done`;
        await home.startScript("evil", script, "--persist-session");
        await home.isRunning("evil");
        const { outputs_dir: dir } = await home.session("evil");
        await answering(async () => {
          await home.run(["send", "evil", String(dir)]);
          await eventually(
            "it has planted everything several times",
            () => Number(readIfThere(join(home.workspace, "planted")) ?? 0) > 60,
            60_000,
          );
          for (const args of [
            ["pause", "evil"],
            ["resume", "evil"],
            ["show", "evil"],
            ["read", "evil"],
            ["screen", "evil"],
            ["list"],
          ])
            await home.run(args);
          await othersGoOn("planted");
          await ends("evil");
          const before = await home.session("evil");
          await home.killDaemon();
          expect(await home.session("evil")).toMatchObject({ state: "stopped", session_id: before.session_id });
        });
        expect(readIfThere(join(home.workspace, "devices"))).toBe("");
        expect(readIfThere(join(home.workspace, "refusals"))?.match(/Operation not permitted/g)).toHaveLength(4);
        expect(readdirSync(outside)).toEqual(["victim"]);
        expect(readFileSync(join(outside, "victim"), "utf8")).toBe("untouched\n");
        expect(statSync(join(outside, "victim")).mode & 0o777).toBe(0o640);
        await othersGoOn("afterwards");
      },
    );

    test("what it prints is no word of tmux's, however much it is", { timeout: 180_000 }, async () => {
      const forged = "%exit\\n%end 1 1 1\\n%error 1 1 1\\n%begin 1 1 1\\n%output %%1 x\\n%layout-change @1\\n";
      const escapes =
        "\\033]52;c;aGFja2Vk\\007\\033]0;%exit\\007\\033]2;reeve;mark\\033\\\\\\033P\\033[6n\\033[21t\\033c";
      await home.startScript(
        "evil",
        `printf '${forged}${escapes}' >noise; i=0; while [ $i -lt 12 ]; do cat noise noise >n2; mv n2 noise; i=$((i+1)); done; echo x >ready; while :; do cat noise; done`,
        "--persist-session",
      );
      await home.isRunning("evil");
      await home.written("ready");
      await answering(async () => {
        for (let round = 0; round < 5; round += 1) await othersGoOn(`flood-${round}`);
        expect((await home.session("evil")).state).toBe("running");
        const listed = await home.run(["list"]);
        expect(listed.stdout).not.toMatch(/\u001b\]|\u001bP/);
        await ends("evil");
      });
    });

    test("a disk that it fills is its own", { timeout: 180_000 }, async () => {
      const small = join(home.workspace, "small");
      mkdirSync(small);
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m,nr_inodes=100", "tmpfs", small]);
      try {
        const fill = `cat /dev/zero >/run/reeve/full; cat /dev/zero >/tmp/full; cat /dev/zero >full; i=0; while [ $i -lt 200 ]; do : >f$i; i=$((i+1)); done`;
        // A shell ends when it cannot make a file for its own `:`, so another one tries.
        const script = `( ${fill}; ) 2>/dev/null; while read x; do echo never >"$x"; done`;
        const docker = ["--runtime", "docker", "--cwd", small, "--name", "evil", "--memory", "1g"];
        await home.json("start", "command", ...docker, "--", "sh", "-c", script);
        await home.isRunning("evil");
        await eventually("it is full", () => readdirSync(small).length >= 90, 60_000);
        await answering(async () => {
          await home.run(["send", "evil", "hello"]);
          await othersGoOn("full");
          await ends("evil");
        });
      } finally {
        execFileSync("umount", ["--lazy", small]);
      }
    });

    test("it forks without end, ignores every signal, and is ended", { timeout: 180_000 }, async () => {
      const bomb =
        "trap '' TERM HUP INT QUIT; i=0; while [ $i -lt 40 ]; do (trap '' TERM HUP; sleep 1000) & i=$((i+1)); done; echo x >spread; bomb() { while :; do bomb & done; }; bomb & while :; do sleep 1; done";
      await home.startScript("evil", bomb, "--pids", "64", "--cpus", "0.5");
      await home.written("spread");
      await answering(async () => {
        await othersGoOn("forked");
        await ends("evil");
      });
    });

    describe("speaking in the place of Reeve's own programs inside", () => {
      /** Of the processes of a kind, by what is after their name in /proc; the shell and the client are the same user's. */
      const each = (kind: string, what: string): string => `while :; do for s in /proc/[0-9]*; do p=\${s#/proc/}
        read -r line 2>/dev/null <$s/stat || continue; cmd=$(tr '\\0' ' ' 2>/dev/null <$s/cmdline)
        case "\${line##*) } $cmd" in ${kind}) ${what};; esac; done; done`;
      /** Takes its questions away, and answers that there is nothing. */
      const shell = each(
        '?" 0 "*" /bin/sh "',
        `kill -STOP $p; while IFS= read -r line; do case $line in *"printf '\\n%s\\n' "*)
          printf '\\n%s\\n' "\${line##* }" >$s/fd/1; echo x >>forged;; esac; done <$s/fd/0`,
      );
      const client = each(
        "*tmux*-C*attach-session*",
        `while printf '%%begin 1 1 1\\n%%end 1 1 1\\n%%begin 2 2 1\\nx\\n%%error 2 2 1\\n%%exit \\033]0;evil\\007\\n'; do
          i=$((i+1)); [ $i -gt 20 ] && echo x >>forged; [ -e /proc/$p ] || break; done 2>/dev/null >$s/fd/1`,
      );
      const endless = each("*tmux*-C*attach-session*", "cat /dev/zero 2>/dev/null >$s/fd/1 & echo x >>forged; sleep 1");
      test.each([
        ["the shell, and is ended", shell, ["end", "evil", "--when", "now", "--grace", "0"]],
        ["the shell, and is restarted", shell, ["restart", "evil"]],
        ["the control client", client, ["end", "evil", "--when", "now", "--grace", "0"]],
        ["the control client, without an end", endless, ["end", "evil", "--when", "now", "--grace", "0"]],
      ])("%s", { timeout: 180_000 }, async (_what, forge, last) => {
        writeFileSync(join(home.workspace, "forge"), forge);
        await home.startScript("evil", "trap '' HUP TERM; echo x >>began; read x; exec bash ./forge", "--cpus", "0.5");
        await home.isRunning("evil");
        const before = await home.containers("evil");
        // Has Reeve open its shell in there.
        await home.run(["pause", "evil", "--suspend"]);
        await home.run(["resume", "evil"]);
        await answering(async () => {
          await home.run(["send", "evil", "now"]);
          await home.run(["doctor", "evil"]);
          await eventually("it forged", () => readIfThere(join(home.workspace, "forged")) !== undefined, 60_000);
          await othersGoOn("forged");
          const listed = await home.run(["list"]);
          expect(listed.stdout).not.toMatch(/\u001b\]/);
          expect(await home.run(last)).toMatchObject({ status: 0, stderr: "" });
          if (last[0] === "restart")
            await eventually("it began again", () => readIfThere(join(home.workspace, "began")) === "x\nx\n", 60_000);
        });
        const after = await home.containers("evil");
        expect(after).toHaveLength(last[0] === "restart" ? 1 : 0);
        expect(after.map(({ Id }) => Id)).not.toContain(before[0]?.Id);
        expect(readIfThere(join(home.dir, "daemon.log"))).not.toContain("\u001b");
        if (last[0] === "restart") await ends("evil");
      });
    });

    describe("in command of its own tmux server", () => {
      const evils: readonly (readonly [string, string])[] = [
        ["ends it", `${TMUX} kill-server`],
        ["kills it", `kill -9 $(${TMUX} display -p '#{pid}')`],
        ["stops it", `kill -STOP $(${TMUX} display -p '#{pid}')`],
        ["takes its socket away", "rm -f /run/reeve/tmux.sock /run/reeve/tmux.conf; mkfifo /run/reeve/tmux.sock"],
        [
          "has it start the program again whenever it ends",
          `${TMUX} set-hook -g pane-died 'respawn-pane -k' \\; set-hook -g pane-exited 'respawn-pane -k' \\; set-option -g remain-on-exit on \\; run-shell -b 'trap "" TERM; while :; do ${TMUX} respawn-pane -t evil "sleep 1000"; done'`,
        ],
        [
          "has it forget everything",
          `${TMUX} set-option -s @reeve-environment bm90IGpzb24= \\; set-option -s exit-empty off \\; kill-session -a`,
        ],
        [
          "gives it endless work",
          `while :; do ${TMUX} set-buffer -b x "$(cat /proc/self/maps)" \\; paste-buffer -b x \\; new-window -d 'yes' ; done`,
        ],
      ];
      test.each(evils)("it %s, and is ended all the same", { timeout: 180_000 }, async (_what, evil) => {
        await home.startScript(
          "evil",
          `trap '' HUP TERM; read x; ${evil}; echo done >done; while :; do sleep 1; done`,
          "--pids",
          "100",
          "--cpus",
          "0.5",
        );
        await home.isRunning("evil");
        await answering(async () => {
          await home.run(["send", "evil", "now"]);
          await eventually(
            "it did it",
            async () =>
              readIfThere(join(home.workspace, "done")) !== undefined ||
              _what.startsWith("gives") ||
              (await home.state("evil")) !== "running",
            60_000,
          );
          await othersGoOn("commanded");
          await ends("evil");
        });
      });
    });
  },
);
