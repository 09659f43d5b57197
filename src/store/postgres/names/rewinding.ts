/**
 * A server that has taken another's place may not have heard the last of it: numbers that this process knows may be nobody's
 * there, or somebody else's. So the first connection after one was lost, on whichever way, sees whether it still has all of
 * them. Where it has not, nothing is known any more, and what was asked until then is said on no way.
 */
import type { Log } from '../../../system/log.ts'
import type { Route } from '../connection/route.ts'
import { PostgresRewound } from '../connection/trouble.ts'
import type { Flows } from '../flow/flows.ts'
import type { Kinds } from './kinds.ts'
import type { Sides } from './sides.ts'

export interface RewindingParts {
  /** Every route to the database: each says when it finds a server that has lost something. */
  readonly routes: ReadonlySet<Route>
  readonly kinds: Kinds
  readonly sides: Sides
  readonly flows: Flows
  readonly log: Log
}

export function noticeRewinding({ routes, kinds, sides, flows, log }: RewindingParts): void {
  for (const route of routes) {
    route.onReturn(async (link) => {
      if (await kinds.areThere((text, values) => link.ask(text, values))) return
      sides.forget()
      flows.forget()
      for (const each of routes) each.rewound()
      const error = new PostgresRewound()
      log.error('the database has lost what it had acknowledged', { server: link.client.where, reason: error.message })
      throw error
    })
  }
}
