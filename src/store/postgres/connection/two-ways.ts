/**
 * Two connections for what is looked up and for what may take long: nobody looks something up behind a long read. While
 * nothing is read, both are served by the first, so that a store which has little to do needs no second one.
 *
 * Invariant: reads under way are all on one connection, and what is looked up is asked on the other.
 */

import type { Run } from '../names/kinds.ts'
import type { Connection } from './connection.ts'

export interface TwoWays {
  readonly look: Run
  readonly read: Run
}

export function twoWays(first: Connection, second: Connection): TwoWays {
  /** Present while something is read: on which of them, and how much. */
  let reading: { readonly on: Connection; underWay: number } | undefined
  return {
    look: (text, values) => (reading?.on === first ? second : first).run(text, () => values),
    async read(text, values) {
      reading ??= { on: first.underWay === 0 ? first : second, underWay: 0 }
      const own = reading
      own.underWay += 1
      try {
        return await own.on.run(text, () => values)
      } finally {
        own.underWay -= 1
        if (own.underWay === 0 && reading === own) reading = undefined
      }
    },
  }
}
