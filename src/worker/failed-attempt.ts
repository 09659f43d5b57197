/** An attempt that failed, once the store has it: for the log and for `onFailed`. */
import type { Job, State } from '../core/job.ts'
import { type Log, silentLog } from '../system/log.ts'
import type { LastWord } from './last-word.ts'

export interface FailedAttempt {
  /** The record as it was claimed. */
  readonly job: Job
  readonly attempt: number
  /**
   * What the handler threw, as it threw it; or why its answer, or its input, was not accepted. Where it ran in a process of its
   * own: an error with the name, message, code and stack that it had there, or how that process ended.
   */
  readonly error: unknown
  /** What has become of the job: `retrying`, or how it ended. */
  readonly state: State
  /** Where a person sees it; undefined without `dashboardUrl`. */
  readonly link: string | undefined
}

/**
 * One warning, with what was written about the error: without credentials, and of bounded length. `sealed`: bodies are
 * encrypted, and the words of an error may quote them; then the log has its code, and the job's error body the rest.
 */
export function warnOf(
  log: Log,
  { job, attempt, state, link }: FailedAttempt,
  { command, bodies }: LastWord,
  sealed: boolean,
): void {
  // The stack is read back out of the body: not for nobody.
  if (log === silentLog) return
  const { type, queue, tenant } = job.spec.kind
  const said = command.type === 'fail' ? command.fault : { code: reasonIn(command), message: messageIn(command) }
  log.warn('handler failed', {
    job_id: job.id,
    type,
    queue,
    tenant,
    attempt,
    state,
    code: said.code,
    reason: sealed ? `encrypted; see body error/${attempt} of the job` : said.message,
    stack: sealed ? undefined : stackIn(bodies?.[0]?.text),
    correlation_id: job.spec.correlationId,
    link,
  })
}

const reasonIn = (command: LastWord['command']): string =>
  command.type === 'deadLetter' ? command.reason : command.type
const messageIn = (command: LastWord['command']): string =>
  command.type === 'deadLetter' ? (command.message ?? '') : ''

function stackIn(story: string | undefined): string | undefined {
  if (story === undefined) return undefined
  const parsed: unknown = JSON.parse(story)
  return typeof parsed === 'object' && parsed !== null && 'stack' in parsed && typeof parsed.stack === 'string'
    ? parsed.stack
    : undefined
}
