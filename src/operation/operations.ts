/** The table of all operations. An operation that is not in it cannot be called. */
import { acknowledgeSession } from "./acknowledge-session.ts";
import { answerApproval } from "./answer-approval.ts";
import { archiveMail } from "./archive-mail.ts";
import { cancelEnd } from "./cancel-end.ts";
import { cancelMessage } from "./cancel-message.ts";
import { checkMail } from "./check-mail.ts";
import { daemonStatus } from "./daemon-status.ts";
import { diagnose } from "./diagnose.ts";
import { endSession } from "./end-session.ts";
import { explainSession } from "./explain-session.ts";
import { getAttachCommand } from "./get-attach-command.ts";
import { getSession } from "./get-session.ts";
import { getSessionData } from "./get-session-data.ts";
import { listApprovals } from "./list-approvals.ts";
import { listForeign } from "./list-foreign.ts";
import { listMessages } from "./list-messages.ts";
import { listSessions } from "./list-sessions.ts";
import { pauseSession } from "./pause-session.ts";
import { readEvents } from "./read-events.ts";
import { readMail } from "./read-mail.ts";
import { renameSession } from "./rename-session.ts";
import { restartSession } from "./restart-session.ts";
import { resumeSession } from "./resume-session.ts";
import { retractMail } from "./retract-mail.ts";
import { sendMail } from "./send-mail.ts";
import { sendMessage } from "./send-message.ts";
import { startSession } from "./start-session.ts";
import { stopDaemon } from "./stop-daemon.ts";
import { waitForSession } from "./wait-for-session.ts";

export const operations = [
  startSession,
  listSessions,
  getSession,
  getSessionData,
  explainSession,
  acknowledgeSession,
  renameSession,
  sendMessage,
  listMessages,
  cancelMessage,
  sendMail,
  checkMail,
  readMail,
  archiveMail,
  retractMail,
  waitForSession,
  pauseSession,
  resumeSession,
  restartSession,
  endSession,
  cancelEnd,
  listApprovals,
  answerApproval,
  getAttachCommand,
  listForeign,
  diagnose,
  readEvents,
  daemonStatus,
  stopDaemon,
] as const;
