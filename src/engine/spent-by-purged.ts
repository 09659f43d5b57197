/**
 * Until when jobs that are removed may have spent from budgets: what a key has counted of them is in no log any more. Noted before they
 * go; one that has ended spends nothing after its last change.
 */
import type { Job, Time } from '../core/job.ts'
import type { Store } from '../store/store.ts'

const KEY = { collection: 'duty', key: 'spent by purged' } as const
const TRIES = 10

export async function notePurged(store: Pick<Store, 'settings'>, jobs: readonly Job[]): Promise<void> {
  const until = Math.max(0, ...jobs.filter(({ spec }) => spec.flow !== undefined).map(({ updatedAt }) => updatedAt))
  for (let n = 0; n < TRIES && until > 0; n += 1) {
    const [read] = await store.settings([{ op: 'get', ...KEY }])
    const there = read?.settings[0]
    if (there !== undefined && Number(there.text) >= until) return
    const [put] = await store.settings([{ op: 'put', ...KEY, text: String(until), rev: there?.rev ?? 0 }])
    if (put?.status === 'ok') return
  }
}

export async function spentByPurgedUntil(store: Pick<Store, 'settings'>): Promise<Time> {
  const [read] = await store.settings([{ op: 'get', ...KEY }])
  return Number(read?.settings[0]?.text ?? 0)
}
