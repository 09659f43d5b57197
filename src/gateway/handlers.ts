/** Which handler serves which route of the table. */
import type { Handler } from './call.ts'
import { OPERATOR_WORDS, OWNER_WORDS } from './contract/schemas.ts'
import { announceType, showType } from './handlers/announcements.ts'
import { listAudit } from './handlers/audit.ts'
import { listCauses } from './handlers/causes.ts'
import { claimJobs } from './handlers/claim.ts'
import { listDeadLetters, showDeadLetter } from './handlers/dead-letters.ts'
import {
  cancel002,
  deny002,
  dispatch002,
  result002,
  results002,
  run002,
  schedule002,
  show002,
  states002,
  submit002,
} from './handlers/document-002.ts'
import { createJob, createJobs } from './handlers/enqueue.ts'
import { streamEvents } from './handlers/events.ts'
import { explainJob } from './handlers/explain.ts'
import { livez, metrics, readyz } from './handlers/health.ts'
import { streamHints } from './handlers/hints.ts'
import { listJobEvents, listJobs, listLateWords, showJob } from './handlers/jobs.ts'
import { listLimits, probeLimit, removeLimit, resetLimit, setLimit, showLimit } from './handlers/limits.ts'
import { showMachine } from './handlers/machine.ts'
import {
  cancelOperation,
  listOperations,
  redriveDeadLetters,
  showOperation,
  startOperation,
} from './handlers/operations.ts'
import { showErrors, showIndex } from './handlers/pages.ts'
import { listPolicies, removePolicy, setPolicy, showPolicy } from './handlers/policies.ts'
import { listQueues, pauseQueue, resumeQueue, showQueue } from './handlers/queues.ts'
import { showResult } from './handlers/result.ts'
import {
  defineSchedule,
  listSchedules,
  nextOfSchedule,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  runSchedule,
  showSchedule,
} from './handlers/schedules.ts'
import { createSession, endSession, showSession } from './handlers/session.ts'
import { say, settle } from './handlers/settle.ts'
import { createToken, listTokens, revokeToken } from './handlers/tokens.ts'
import { showTally, showTraffic } from './handlers/traffic.ts'
import { listWorkers, reportWorker } from './handlers/workers.ts'

const words = Object.fromEntries([...OWNER_WORDS, ...OPERATOR_WORDS].map((word) => [`${word}Job`, say(word)]))

export const HANDLERS: Readonly<Record<string, Handler>> = {
  ...words,
  createJob,
  createJobs,
  listJobs,
  showJob,
  listJobEvents,
  listLateWords,
  showResult,
  explainJob,
  claim: claimJobs,
  settle,
  streamEvents,
  streamHints,
  listQueues,
  showQueue,
  pauseQueue,
  resumeQueue,
  showType,
  announceType,
  listWorkers,
  reportWorker,
  listLimits,
  showLimit,
  setLimit,
  removeLimit,
  resetLimit,
  probeLimit,
  listPolicies,
  showPolicy,
  setPolicy,
  removePolicy,
  listSchedules,
  showSchedule,
  defineSchedule,
  removeSchedule,
  nextOfSchedule,
  pauseSchedule,
  resumeSchedule,
  runSchedule,
  startOperation,
  listOperations,
  showOperation,
  cancelOperation,
  redriveDeadLetters,
  submit002,
  show002,
  states002,
  results002,
  schedule002,
  deny002,
  dispatch002,
  run002,
  result002,
  cancel002,
  listDeadLetters,
  showDeadLetter,
  reopenDeadLetter: say('reopen'),
  listCauses,
  showTally,
  showTraffic,
  showSession,
  createSession,
  endSession,
  listTokens,
  createToken,
  revokeToken,
  listAudit,
  showMachine,
  livez,
  readyz,
  metrics,
  showIndex,
  showErrors,
}
