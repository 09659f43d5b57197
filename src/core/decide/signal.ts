/** `signal`: wakes the job that waits for it, else is kept in the inbox until the job does. */
import type { Signal } from '../command.ts'
import { change, type Draft, type MemoBody, observe } from '../draft.ts'
import type { Job, StoredSignal, Wait } from '../job.ts'
import { SIZES } from '../limits.ts'
import { bodyQuota, quota } from '../quota.ts'
import type { Ruling } from '../ruling.ts'

export function decideSignal(d: Draft, job: Job, command: Signal): Ruling {
  const tooLarge = bodyQuota(job, command.body)
  if (tooLarge !== undefined) return tooLarge
  const n = job.signals + 1
  const signal: StoredSignal = {
    n,
    name: command.name,
    key: command.key,
    requestId: command.requestId,
    at: d.at,
    body: command.body === undefined ? undefined : { ...command.body, name: `signal/${n}` },
  }
  if (job.wait !== undefined && answers(job.wait, signal)) {
    d.bodies = [...d.bodies, signalMemo(job.wait, n)]
    change(d, 'signalled', 'queued', { signal, stored: false, memo: job.wait.memo })
    return undefined
  }
  if (job.inbox.length >= SIZES.inbox)
    return { code: 'INBOX_FULL', message: `Job ${job.id} keeps ${SIZES.inbox} signals already.` }
  // A signal that is waited for is never refused for their number: the job would wait for ever.
  const full = quota(job)
  if (full !== undefined) return full
  observe(d, 'signal_stored', { signal })
  return undefined
}

export const answers = (wait: Wait, signal: StoredSignal): boolean =>
  signal.name === wait.name && signal.key === wait.key

/** What the handler finds when it comes to this wait again. */
export const signalMemo = (wait: Wait, n: number): MemoBody => ({
  name: `step/${wait.memo}`,
  text: JSON.stringify({ signal: n }),
})
