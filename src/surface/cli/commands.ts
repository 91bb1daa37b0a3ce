/** Every command there is, in the order in which help shows them. */
import type { CliCommand } from "./command.ts";
import { adoptCommand } from "./command/adopt.ts";
import { approvalsCommand } from "./command/approvals.ts";
import { approveCommand } from "./command/approve.ts";
import { attachCommand } from "./command/attach.ts";
import { boardCommand } from "./command/board.ts";
import { completeCommand, completionCommand } from "./command/completion.ts";
import { daemonCommandLine } from "./command/daemon.ts";
import { dataCommand } from "./command/data.ts";
import { demoCommand } from "./command/demo.ts";
import { denyCommand } from "./command/deny.ts";
import { doctorCommand } from "./command/doctor.ts";
import { downCommand } from "./command/down.ts";
import { endCommand } from "./command/end.ts";
import { eventsCommand } from "./command/events.ts";
import { explainCommand } from "./command/explain.ts";
import { exportCommand } from "./command/export.ts";
import { helpCommand } from "./command/help.ts";
import { imageCommand } from "./command/image.ts";
import { importCommand } from "./command/import.ts";
import { inboxCommand } from "./command/inbox.ts";
import { initCommand } from "./command/init.ts";
import { interruptCommand } from "./command/interrupt.ts";
import { listCommand } from "./command/list.ts";
import { mcpCommand } from "./command/mcp.ts";
import { mailCommand } from "./command/mail.ts";
import { memoryCommand } from "./command/memory.ts";
import { messagesCommand } from "./command/messages.ts";
import { notifyCommand } from "./command/notify.ts";
import { planCommand } from "./command/plan.ts";
import { pruneCommand } from "./command/prune.ts";
import { quotaCommand } from "./command/quota.ts";
import { pauseCommand } from "./command/pause.ts";
import { recoverCommand } from "./command/recover.ts";
import { renameCommand } from "./command/rename.ts";
import { restartCommand } from "./command/restart.ts";
import { holdCommand } from "./command/hold.ts";
import { restartPolicyCommand } from "./command/restart-policy.ts";
import { resumeAllCommand } from "./command/resume-all.ts";
import { resumeCommand } from "./command/resume.ts";
import { rulesCommand } from "./command/rules.ts";
import { seenCommand } from "./command/seen.ts";
import { searchCommand } from "./command/search.ts";
import { sendCommand } from "./command/send.ts";
import { showCommand } from "./command/show.ts";
import { startCommand } from "./command/start.ts";
import { statsCommand } from "./command/stats.ts";
import { uninstallCommand } from "./command/uninstall.ts";
import { upCommand } from "./command/up.ts";
import { waitCommand } from "./command/wait.ts";
import { workCommand } from "./command/work.ts";
import { worktreeCommand } from "./command/worktree.ts";

export const commands: readonly CliCommand[] = [
  startCommand,
  adoptCommand,
  listCommand,
  boardCommand,
  dataCommand,
  showCommand,
  exportCommand,
  importCommand,
  sendCommand,
  messagesCommand,
  mailCommand,
  memoryCommand,
  workCommand,
  waitCommand,
  inboxCommand,
  seenCommand,
  approvalsCommand,
  approveCommand,
  denyCommand,
  rulesCommand,
  attachCommand,
  interruptCommand,
  pauseCommand,
  resumeCommand,
  restartCommand,
  restartPolicyCommand,
  holdCommand,
  endCommand,
  renameCommand,
  planCommand,
  upCommand,
  downCommand,
  resumeAllCommand,
  worktreeCommand,
  eventsCommand,
  searchCommand,
  statsCommand,
  pruneCommand,
  quotaCommand,
  explainCommand,
  recoverCommand,
  notifyCommand,
  imageCommand,
  doctorCommand,
  initCommand,
  mcpCommand,
  daemonCommandLine,
  demoCommand,
  completionCommand,
  uninstallCommand,
  helpCommand,
  completeCommand,
];
