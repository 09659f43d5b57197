/** Limit keys over HTTP, and what they hold. */
import type { Explanation } from '../core/explain.ts'
import type { Holding } from '../core/flow/explain.ts'
import type { Limit } from '../core/flow/key.ts'
import type { Job, JobId } from '../core/job.ts'
import type { KeyWord, LimitPage, LimitQuery, LimitStatus } from '../engine/engine.ts'
import { fromWire, type Wire } from '../gateway/contract/wire.ts'
import type { Http } from './http.ts'
import { pathTo, queryText } from './path.ts'
import { checked } from './refused.ts'

export async function remoteLimits(http: Http, { names, states, limit, cursor }: LimitQuery): Promise<LimitPage> {
  if (names !== undefined) {
    const found = await Promise.all(names.map((name) => asked(http, 'GET', pathTo('limits', name))))
    return { limits: found.filter((each) => each !== undefined), cursor: undefined }
  }
  const query = queryText({ limit, cursor, state: states?.join(',') })
  const { status, body } = await http.request('GET', `/v1/limits?${query}`)
  const page = checked(status, body)
  const limits = (page['limits'] as readonly Wire[]).map((each) => ({ ...statusOf(each), log: [] }))
  return { limits, cursor: page['cursor'] as string | undefined }
}

export function sayToRemoteLimit(http: Http, { key, ask }: KeyWord): Promise<LimitStatus | undefined> {
  switch (ask.type) {
    case 'set':
      return asked(http, 'PUT', pathTo('limits', key), limitToWire(ask.limit))
    case 'unset':
      return asked(http, 'DELETE', pathTo('limits', key))
    case 'reset':
    case 'probe':
      return asked(http, 'POST', pathTo('limits', key, ask.type), {})
  }
}

/** What holds a job is said by the server, which has its keys; of what it explains otherwise nothing is taken. */
export async function remoteHoldings(http: Http, jobs: readonly Job[]): Promise<ReadonlyMap<JobId, Holding>> {
  const found = new Map<JobId, Holding>()
  const limited = jobs.filter(({ spec, readyAt }) => spec.flow !== undefined && readyAt !== undefined)
  const answers = await Promise.all(limited.map(({ id }) => http.request('GET', pathTo('jobs', id, 'explain'))))
  for (const [i, { id }] of limited.entries()) {
    const { status = 404, body = '' } = answers[i] ?? {}
    if (status === 404) continue
    const { way, because, who = '', when, next } = fromWire(checked(status, body)) as Explanation
    if (way === 'held') found.set(id, { because, who, when, next })
  }
  return found
}

/** Undefined: there is no such key. */
async function asked(
  http: Http,
  method: 'GET' | 'PUT' | 'POST' | 'DELETE',
  path: string,
  words?: object,
): Promise<LimitStatus | undefined> {
  const { status, body } = await http.request(method, path, words && JSON.stringify(words))
  return status === 404 ? undefined : statusOf(checked(status, body))
}

/** The words that come to this very limit. */
export const limitToWire = ({ rate, budget, ...rest }: Limit): object => ({
  ...rest,
  rate: rate && { most: rate.most, per: rate.perMs },
  budget: budget && { amount: budget.amount, per: budget.perMs },
})

const statusOf = (wire: Wire): LimitStatus => fromWire(wire) as LimitStatus
