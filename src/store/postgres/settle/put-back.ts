/**
 * Owned jobs that go back into their lanes: attempts that are tried again, and jobs that are given up before they have begun. All of a
 * call do so in one statement, or none does: one may have been given a lease or a heartbeat meanwhile, or may not move any more.
 * Then they are moved as anything else is (`move`), which says of each what became of it.
 */
import { assert } from '../../../core/assert.ts'
import { isMereRenewal } from '../../../core/decide/heartbeat.ts'
import { idNumber } from '../../../core/id.ts'
import { askedOf } from '../../../core/recast.ts'
import { tickBesidesLease } from '../../../core/timers.ts'
import { baseOf, encodeEvents } from '../../codec/events.ts'
import { encodeRecord } from '../../codec/record.ts'
import { storable } from '../../codec/text.ts'
import type { MoveChange } from '../../store.ts'
import { bigints, texts } from '../batch/arrays.ts'
import { literal, uniform } from '../batch/uniform.ts'
import type { Bundles } from '../bundle/bundles.ts'
import type { Row } from '../connection/client.ts'
import type { Statements } from '../connection/statements.ts'
import type { Kinds } from '../names/kinds.ts'
import { stepOf } from '../names/step.ts'
import { shapeOf } from './change-row.ts'

export interface PutBackParts {
  readonly bundles: Bundles
  readonly kinds: Kinds
  readonly statements: Statements
  readonly sawClock: (now: number) => void
}

type Run = (text: string, values: (again: boolean) => unknown[], mayBreakUp?: boolean) => Promise<Row[]>

export class PutBack {
  readonly #parts: PutBackParts

  constructor(parts: PutBackParts) {
    this.#parts = parts
  }

  /** Whether all have moved; where not, none has. All are in bundles of this process, or none is. `lost` is told of an earlier try that may have been applied. */
  async apply(changes: readonly MoveChange[], run: Run, lost: () => void): Promise<boolean> {
    const { bundles, statements, sawClock } = this.#parts
    const values = this.#values(changes)
    const [answer] = await run(
      statements.putBack,
      (repeated) => {
        if (repeated) lost()
        return values
      },
      true,
    )
    assert(answer !== undefined, 'what is put back is answered')
    const [now, isDone, uncounted] = answer
    sawClock(Number(now))
    // Not awaited: if the recount fails, the bundle is counted when its leases end.
    if (typeof uncounted === 'string') run(statements.recount, () => [uncounted]).catch(() => {})
    if (isDone !== true) for (const { before } of changes) bundles.forget(before)
    return isDone === true
  }

  #values(given: readonly MoveChange[]): unknown[] {
    const { bundles, kinds } = this.#parts
    // The order in which everybody locks them.
    const changes = given.toSorted((a, b) => numberOf(a) - numberOf(b))
    const of = changes.map(({ before }) => kinds.of(askedOf(before).kind))
    const claims = changes.map(({ before }) => bundles.of(before))
    return [
      bigints(changes.map(numberOf)),
      literal(claims[0] === undefined ? [] : claims),
      literal(uniform(changes, ({ before }) => before.rev)),
      literal(uniform(changes, ({ notAfter }) => notAfter)),
      literal(uniform(changes, ({ after }) => after.rev)),
      literal(uniform(changes, ({ after }) => stepOf(after))),
      literal(uniform(changes, ({ after }) => after.updatedAt)),
      texts(changes.map(({ before, events }) => encodeEvents(events, before.spec, baseOf(before), 'alone'))),
      texts(changes.map(({ after }) => encodeRecord(after))),
      literal(uniform(changes, ({ after }) => after.readyAt)),
      literal(uniform(changes, ({ after }) => kinds.lane(after))),
      literal(uniform(of, ({ windowMs }) => windowMs)),
      literal(uniform(of, ({ id }) => id)),
      literal(uniform(changes, ({ events }) => events[0]?.rev)),
      literal(uniform(changes, ({ before, events, after }) => shapeOf(before, events, after))),
      literal(uniform(changes, ({ after }) => tickBesidesLease(after))),
      literal(uniform(changes, ({ after }) => (isMereRenewal(after) ? undefined : 'true'))),
      texts(uniform(changes, ({ bodies }) => bodies[0] && storable(bodies[0].name))),
      texts(uniform(changes, ({ bodies }) => bodies[0] && storable(bodies[0].text))),
    ]
  }
}

const numberOf = ({ before }: MoveChange): number => idNumber(before.id) as number
