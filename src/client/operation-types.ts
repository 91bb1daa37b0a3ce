/** The types of the API, taken from the operations themselves. Types only: zod is never loaded by a client. */
import type * as z from "zod/mini";
import type { acknowledgeSession } from "../operation/acknowledge-session.ts";
import type { answerApproval } from "../operation/answer-approval.ts";
import type { archiveMail } from "../operation/archive-mail.ts";
import type { cancelEnd } from "../operation/cancel-end.ts";
import type { cancelMessage } from "../operation/cancel-message.ts";
import type { checkMail } from "../operation/check-mail.ts";
import type { daemonStatus } from "../operation/daemon-status.ts";
import type { diagnose } from "../operation/diagnose.ts";
import type { endSession } from "../operation/end-session.ts";
import type { explainSession } from "../operation/explain-session.ts";
import type { getAttachCommand } from "../operation/get-attach-command.ts";
import type { getSession } from "../operation/get-session.ts";
import type { getSessionData } from "../operation/get-session-data.ts";
import type { listApprovals } from "../operation/list-approvals.ts";
import type { listForeign } from "../operation/list-foreign.ts";
import type { listMessages } from "../operation/list-messages.ts";
import type { listSessions } from "../operation/list-sessions.ts";
import type { pauseSession } from "../operation/pause-session.ts";
import type { readEvents } from "../operation/read-events.ts";
import type { readMail } from "../operation/read-mail.ts";
import type { renameSession } from "../operation/rename-session.ts";
import type { restartSession } from "../operation/restart-session.ts";
import type { resumeSession } from "../operation/resume-session.ts";
import type { retractMail } from "../operation/retract-mail.ts";
import type { sendMail } from "../operation/send-mail.ts";
import type { sendMessage } from "../operation/send-message.ts";
import type { startSession } from "../operation/start-session.ts";
import type { stopDaemon } from "../operation/stop-daemon.ts";
import type { waitForSession } from "../operation/wait-for-session.ts";

interface Operations {
  readonly startSession: typeof startSession;
  readonly listSessions: typeof listSessions;
  readonly getSession: typeof getSession;
  readonly getSessionData: typeof getSessionData;
  readonly explainSession: typeof explainSession;
  readonly acknowledgeSession: typeof acknowledgeSession;
  readonly renameSession: typeof renameSession;
  readonly sendMessage: typeof sendMessage;
  readonly listMessages: typeof listMessages;
  readonly cancelMessage: typeof cancelMessage;
  readonly sendMail: typeof sendMail;
  readonly checkMail: typeof checkMail;
  readonly readMail: typeof readMail;
  readonly archiveMail: typeof archiveMail;
  readonly retractMail: typeof retractMail;
  readonly waitForSession: typeof waitForSession;
  readonly pauseSession: typeof pauseSession;
  readonly resumeSession: typeof resumeSession;
  readonly restartSession: typeof restartSession;
  readonly endSession: typeof endSession;
  readonly cancelEnd: typeof cancelEnd;
  readonly listApprovals: typeof listApprovals;
  readonly answerApproval: typeof answerApproval;
  readonly getAttachCommand: typeof getAttachCommand;
  readonly listForeign: typeof listForeign;
  readonly diagnose: typeof diagnose;
  readonly readEvents: typeof readEvents;
  readonly daemonStatus: typeof daemonStatus;
  readonly stopDaemon: typeof stopDaemon;
}

export type Verb = keyof Operations;

/** What may be left out is the schema's say; what a value is, is what the operation is handed. */
type Given<In, Out> = { [Key in keyof In]: Key extends keyof Out ? Out[Key] : never };

export type InputOf<V extends Verb> = Given<z.input<Operations[V]["input"]>, z.output<Operations[V]["input"]>>;
export type OutputOf<V extends Verb> = z.output<Operations[V]["output"]>;

export type { SessionView } from "../operation/session-view.ts";
export type { EventView } from "../operation/event-schema.ts";
