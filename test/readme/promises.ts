/**
 * What the README says, or leads a person to expect, of each of its lines: the
 * line as it stands there, and what is on the screen after it with all blanks
 * and line ends as one blank.
 */
export interface Promised {
  readonly line: RegExp;
  readonly shows: RegExp;
}

export const PROMISES: readonly Promised[] = [
  {
    line: /^npm start$/,
    shows:
      /demo-asks .*awaiting-approval .*Run "rm -r build"\? demo-crashes .*error .*demo-reads .*finished .*What to try next: bin\/reeve approvals /,
  },
  { line: /^reeve start practice --name helper /, shows: /^Started helper \(\w+\)\. .*(?:bin\/)?reeve attach helper$/ },
  { line: /^reeve wait helper$/, shows: /^helper: turn-completed\. Nothing was changed/ },
  { line: /^reeve send helper .* --wait$/, shows: /^assistant, .* You said: "And now in other words"/ },
  { line: /^reeve send helper "ask/, shows: /^Delivered\. / },
  { line: /^reeve wait helper --for awaiting-approval/, shows: /^helper: awaiting-approval\. Run "before you/ },
  // Who needs you comes first; in a checkout the sessions of `npm start` are there, too.
  { line: /^reeve list$/, shows: /^NAME .* INFO (?:demo-asks .*|helper |worker )/ },
  { line: /^reeve approvals$/, shows: /^SESSION .* ASKS .*helper .* Run "before you continue"\?/ },
  { line: /^reeve approve helper --wait$/, shows: /^Approved: Run "before you continue"\? It took effect.* I ran "/ },
  { line: /^reeve data helper$/, shows: /user, .* Say hello assistant, .* You said: "Say hello"/ },
  { line: /^reeve pause helper --suspend$/, shows: /^helper is paused\. / },
  { line: /^reeve resume helper$/, shows: /^helper is running\. / },
  { line: /^reeve restart helper$/, shows: /^helper is running\. / },
  { line: /^reeve events helper$/, shows: / turn 1 began .* turn 1 completed .* will be restarted / },
  { line: /^reeve end helper/, shows: /^helper is stopped\. .*process.* ended/ },
  { line: /^reeve doctor$/, shows: /^ok tmux .* codex 0\..* claude 2\..* Reeve works here\./ },
  { line: /^reeve start claude --name fix /, shows: /^Started fix / },
  { line: /^reeve start codex --name review /, shows: /^Started review / },
  {
    line: /^reeve wait fix review --all /,
    shows: /^fix: turn-completed\. You said: .* review: turn-completed\. You said: /,
  },
  { line: /^reeve data fix --last$/, shows: /^You said: Fix the failing test$/ },
  { line: /^reeve send fix /, shows: /^Delivered\. / },
  { line: /^reeve explain fix$/, shows: /^fix \(\w+\) claude .* Process: running .* Activity: / },
  { line: /^reeve end fix review/, shows: /^(?=.*fix is stopped\.)(?=.*review is stopped\.)/ },
  { line: /^reeve start practice --name probe .* --wait$/, shows: /You said: "Say hello"/ },
  { line: /^reeve show probe$/, shows: /asked for: practice.* "Say hello" .*turn 1 completed/ },
  { line: /^reeve search hello$/, shows: /probe .*Say hello/ },
  { line: /^reeve stats$/, shows: /^AGENT .* TURNS .*practice / },
  { line: /^reeve export probe /, shows: /^Exported probe to .*probe\.tar\.gz \(\d+ files, / },
  { line: /^reeve end probe /, shows: /^probe is stopped\. / },
  { line: /exit code 0: the turn completed/, shows: /exit code 0: the turn completed$/ },
  { line: /^reeve send job "ask/, shows: /^Delivered\. / },
  { line: /exit code 12: it asks/, shows: /^job: awaiting-approval\. .* exit code 12: it asks for an approval$/ },
  { line: /^reeve approve job --wait &&/, shows: /It took effect.* I ran ".* I ran "/ },
  { line: /exit code 10: the turn failed/, shows: /job: turn-failed\. .* exit code 10: the turn failed$/ },
  { line: /^reeve end job --json$/, shows: /^\{"done":true,.*"name":"job",.*"state":"stopped",.*\}$/ },
  { line: /^reeve start command --name worker /, shows: /^Started worker / },
  { line: /^reeve daemon stop$/, shows: /^The daemon \(pid \d+\) has stopped; sessions run on\.$/ },
  { line: /^reeve end --all/, shows: /worker is stopped\. / },
];
