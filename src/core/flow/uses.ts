/** What the log of a job says of one of its keys: when it was claimed under it, and what it spent. */
import type { Event } from '../event.ts'
import type { Time } from '../job.ts'
import type { KeyEvent } from './event.ts'
import type { Limit } from './key.ts'

export interface Uses {
  readonly claims: readonly Time[]
  readonly spends: readonly { readonly at: Time; readonly amount: number }[]
  /** Until when the log may have had more, which was made one with other events. */
  readonly lostUntil: Time
}

/** `after`: what is as old is left out. */
export function usesIn(log: readonly Event[], key: string, after: Time): Uses {
  const late = log.filter(({ at }) => at > after)
  return {
    claims: late.filter(({ type }) => type === 'claimed').map(({ at }) => at),
    spends: late.flatMap((event) => {
      const spend = event.type === 'recorded' ? event.payload.spend : undefined
      // Without a name it is all of its keys' that it spends from.
      return spend === undefined || (spend.key ?? key) !== key ? [] : [{ at: event.at, amount: spend.amount }]
    }),
    lostUntil: late.findLast(({ type }) => type === 'compacted')?.at ?? 0,
  }
}

/**
 * Since when a key has counted for its rate, or its budget, without a break: a number that was set where there was none, or for windows
 * of another length, begins anew; another amount within the same window does not, and nothing else that is set for the key.
 */
export function countsSince(log: readonly KeyEvent[], number: 'rate' | 'budget'): Time {
  const begins = (event: KeyEvent): boolean => {
    if (event.type !== 'limited') return false
    const { before, limit } = event.payload
    return before === undefined || lengthOf(before, number) !== lengthOf(limit, number)
  }
  return log.findLast(begins)?.at ?? 0
}

const lengthOf = (limit: Limit, number: 'rate' | 'budget'): number | undefined => limit[number]?.perMs
