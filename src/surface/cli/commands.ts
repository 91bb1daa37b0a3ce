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
import { endCommand } from "./command/end.ts";
import { eventsCommand } from "./command/events.ts";
import { explainCommand } from "./command/explain.ts";
import { helpCommand } from "./command/help.ts";
import { initCommand } from "./command/init.ts";
import { listCommand } from "./command/list.ts";
import { mcpCommand } from "./command/mcp.ts";
import { mailCommand } from "./command/mail.ts";
import { messagesCommand } from "./command/messages.ts";
import { pauseCommand } from "./command/pause.ts";
import { renameCommand } from "./command/rename.ts";
import { restartCommand } from "./command/restart.ts";
import { resumeCommand } from "./command/resume.ts";
import { seenCommand } from "./command/seen.ts";
import { sendCommand } from "./command/send.ts";
import { startCommand } from "./command/start.ts";
import { uninstallCommand } from "./command/uninstall.ts";
import { waitCommand } from "./command/wait.ts";

export const commands: readonly CliCommand[] = [
  startCommand,
  adoptCommand,
  listCommand,
  boardCommand,
  dataCommand,
  sendCommand,
  messagesCommand,
  mailCommand,
  waitCommand,
  seenCommand,
  approvalsCommand,
  approveCommand,
  denyCommand,
  attachCommand,
  pauseCommand,
  resumeCommand,
  restartCommand,
  endCommand,
  renameCommand,
  eventsCommand,
  explainCommand,
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
