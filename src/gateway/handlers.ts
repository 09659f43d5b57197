/** Which handler serves which route of the table. */
import type { Handler } from './call.ts'
import { OPERATOR_WORDS, OWNER_WORDS } from './contract/schemas.ts'
import { announceType, showType } from './handlers/announcements.ts'
import { listAudit } from './handlers/audit.ts'
import { claimJobs } from './handlers/claim.ts'
import { listDeadLetters, showDeadLetter } from './handlers/dead-letters.ts'
import { createJob, createJobs } from './handlers/enqueue.ts'
import { streamEvents } from './handlers/events.ts'
import { explainJob } from './handlers/explain.ts'
import { livez, metrics, readyz } from './handlers/health.ts'
import { streamHints } from './handlers/hints.ts'
import { listJobEvents, listJobs, showJob } from './handlers/jobs.ts'
import { showMachine } from './handlers/machine.ts'
import { showErrors, showIndex } from './handlers/pages.ts'
import { listQueues, pauseQueue, resumeQueue, showQueue } from './handlers/queues.ts'
import { showResult } from './handlers/result.ts'
import { say, settle } from './handlers/settle.ts'
import { createToken, listTokens, revokeToken } from './handlers/tokens.ts'
import { listWorkers, reportWorker } from './handlers/workers.ts'

const words = Object.fromEntries([...OWNER_WORDS, ...OPERATOR_WORDS].map((word) => [`${word}Job`, say(word)]))

export const HANDLERS: Readonly<Record<string, Handler>> = {
  ...words,
  createJob,
  createJobs,
  listJobs,
  showJob,
  listJobEvents,
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
  listDeadLetters,
  showDeadLetter,
  reopenDeadLetter: say('reopen'),
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
