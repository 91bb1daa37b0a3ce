/** The table of all operations. An operation that is not in it cannot be called. */
import { acknowledgeSession } from "./acknowledge-session.ts";
import { addMemory } from "./add-memory.ts";
import { addWork } from "./add-work.ts";
import { answerApproval } from "./answer-approval.ts";
import { answerInbox } from "./answer-inbox.ts";
import { archiveMail } from "./archive-mail.ts";
import { buildImage } from "./build-image.ts";
import { cancelEnd } from "./cancel-end.ts";
import { cancelMessage } from "./cancel-message.ts";
import { changeWork } from "./change-work.ts";
import { checkMail } from "./check-mail.ts";
import { daemonStatus } from "./daemon-status.ts";
import { diagnose } from "./diagnose.ts";
import { editWork } from "./edit-work.ts";
import { endSession } from "./end-session.ts";
import { explainSession } from "./explain-session.ts";
import { forgetMemory } from "./forget-memory.ts";
import { getAttachCommand } from "./get-attach-command.ts";
import { getSession } from "./get-session.ts";
import { getSessionData } from "./get-session-data.ts";
import { exportSession } from "./export-session.ts";
import { holdSession } from "./hold-session.ts";
import { getWork } from "./get-work.ts";
import { importArchive } from "./import-archive.ts";
import { interruptSession } from "./interrupt-session.ts";
import { listApprovals } from "./list-approvals.ts";
import { listImages } from "./list-images.ts";
import { listImports } from "./list-imports.ts";
import { listInbox } from "./list-inbox.ts";
import { listForeign } from "./list-foreign.ts";
import { listMemories } from "./list-memories.ts";
import { listMessages } from "./list-messages.ts";
import { getStats } from "./get-stats.ts";
import { listRules } from "./list-rules.ts";
import { listNotifications } from "./list-notifications.ts";
import { listQuotas } from "./list-quotas.ts";
import { listSessions } from "./list-sessions.ts";
import { listWork } from "./list-work.ts";
import { listWorktrees } from "./list-worktrees.ts";
import { nextWork } from "./next-work.ts";
import { pauseSession } from "./pause-session.ts";
import { planManifest } from "./plan-manifest.ts";
import { prune } from "./prune.ts";
import { planWork } from "./plan-work.ts";
import { readEvents } from "./read-events.ts";
import { readMail } from "./read-mail.ts";
import { recover } from "./recover.ts";
import { removeImport } from "./remove-import.ts";
import { removeWorktree } from "./remove-worktree.ts";
import { renameSession } from "./rename-session.ts";
import { restartSession } from "./restart-session.ts";
import { resumeSession } from "./resume-session.ts";
import { retractMail } from "./retract-mail.ts";
import { saveWorktree } from "./save-worktree.ts";
import { searchMemory } from "./search-memory.ts";
import { search } from "./search.ts";
import { sendMail } from "./send-mail.ts";
import { sendMessage } from "./send-message.ts";
import { setRestartPolicy } from "./set-restart-policy.ts";
import { showSession } from "./show-session.ts";
import { startSession } from "./start-session.ts";
import { stopDaemon } from "./stop-daemon.ts";
import { testRules } from "./test-rules.ts";
import { testNotification } from "./test-notification.ts";
import { waitForSession } from "./wait-for-session.ts";

export const operations = [
  startSession,
  listSessions,
  getSession,
  getSessionData,
  explainSession,
  recover,
  showSession,
  exportSession,
  importArchive,
  listImports,
  removeImport,
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
  addMemory,
  searchMemory,
  listMemories,
  forgetMemory,
  addWork,
  listWork,
  getWork,
  editWork,
  changeWork,
  nextWork,
  planWork,
  waitForSession,
  interruptSession,
  pauseSession,
  resumeSession,
  restartSession,
  setRestartPolicy,
  endSession,
  cancelEnd,
  holdSession,
  listApprovals,
  answerApproval,
  listRules,
  testRules,
  listInbox,
  answerInbox,
  listWorktrees,
  saveWorktree,
  removeWorktree,
  getAttachCommand,
  listForeign,
  listNotifications,
  testNotification,
  listQuotas,
  planManifest,
  buildImage,
  listImages,
  diagnose,
  readEvents,
  search,
  getStats,
  prune,
  daemonStatus,
  stopDaemon,
] as const;
