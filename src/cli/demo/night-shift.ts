/**
 * Somebody comes by and does what people do: approves, reviews, calls off. The oldest are left to whoever is watching: an id
 * stays good for as long as it takes to read it and type it, and however fast jobs are made, no more than these wait.
 */
import { FIELDS } from '../../core/invariants.ts'
import type { Job } from '../../core/job.ts'
import { statesBefore } from '../../core/transitions.ts'
import type { InputOf } from '../../library/define-job.ts'
import { Refused } from '../../library/errors.ts'
import type { OperationOptions } from '../../library/operations-desk.ts'
import type { Pawl } from '../../library/pawl.ts'
import { chargeCard, parseMail, payOut, refund, renderFilm } from './jobs.ts'

const actor = 'the night shift'
/** How many of a kind wait for whoever is watching. */
const YOURS = 5
const MOST = 50

export async function approveOthers(pawl: Pawl): Promise<void> {
  for (const { id } of (await waitingRefunds(pawl, YOURS + MOST)).slice(YOURS))
    await unlessTooLate(pawl.signal(id, 'approved', { by: actor }, { actor }))
}

export const waitingRefunds = (pawl: Pawl, limit: number): Promise<readonly Job[]> =>
  oldest(pawl, refund.type, FIELDS.wait, limit)

/** What may be paid without asking further, and what is not paid at all. */
const SMALL_MOST = 1_000
const LARGE_MOST = 1_800

/** What the demo's policy goes by: it sees no inputs. */
export const sizeOf = (euros: number): string =>
  euros <= SMALL_MOST ? 'small' : euros <= LARGE_MOST ? 'large' : 'huge'

const APPROVED_MOST = 1_400

/** Approves some of the payments that the policy asks about, and turns others away. Without a policy it lets them in by itself. */
export async function reviewOthers(pawl: Pawl): Promise<void> {
  const pending = await oldest(pawl, payOut.type, statesBefore('admit'), YOURS + MOST)
  for (const { id, approval } of pending.slice(YOURS)) {
    const { euros } = (await pawl.body(id, 'input')) as InputOf<typeof payOut>
    await unlessTooLate(
      euros > APPROVED_MOST
        ? pawl.deny(id, { actor, rule: 'night-shift', reason: `${euros} € need a contract` })
        : approval === undefined
          ? pawl.admit(id, { actor, rule: 'night-shift' })
          : pawl.approve(id, { actor, reason: 'the invoice is in order' }),
    )
  }
}

/** Changes its mind about a film. */
export async function callOff(pawl: Pawl): Promise<void> {
  const [film] = await oldest(pawl, renderFilm.type, FIELDS.owner, 1)
  if (film !== undefined) await unlessTooLate(pawl.cancel(film.id, { actor, reason: 'the premiere is off' }))
}

/**
 * One time looks whether the bank answers again, with one payment: as long as it does not, the others stay where they are. The
 * next time throws away mails that were none. One at a time, however fast jobs are made.
 */
export async function doToMany(pawl: Pawl, n: number): Promise<void> {
  const { operations } = await pawl.operations.list({ limit: 1 })
  if (operations.some(({ endedAt }) => endedAt === undefined)) return
  const words: OperationOptions =
    n % 2 === 0
      ? { action: 'redrive', query: `type:${chargeCard.type}`, canary: 1, reason: 'is the bank there again?' }
      : { action: 'purge', query: `type:${parseMail.type} created:>1m`, reason: 'no mails' }
  await unlessTooLate(pawl.operations.start({ ...words, actor }))
}

const oldest = async (pawl: Pawl, type: string, states: readonly Job['state'][], limit: number) =>
  (await pawl.find({ types: [type], states, order: 'oldest', limit })).jobs

/** Whoever is watching may have been faster. */
async function unlessTooLate(asked: Promise<unknown>): Promise<void> {
  try {
    await asked
  } catch (error) {
    if (!(error instanceof Refused)) throw error
  }
}
