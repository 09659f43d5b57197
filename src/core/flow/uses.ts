/** What the log of a job says of one of its keys: when it was claimed under it, and what it spent. */
import type { Event } from '../event.ts'
import type { Time } from '../job.ts'

export interface Uses {
  readonly claims: readonly Time[]
  readonly spends: readonly { readonly at: Time; readonly amount: number }[]
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
  }
}
