/** A word about one job that is there: an operator's act, told before it is done, and what has become of the job by it. */
import type { ActName } from '../engine/audit.ts'
import type { Answer } from '../engine/engine.ts'
import type { Pawl } from '../library/pawl.ts'
import { audited } from './audited.ts'
import { linkJob } from './links.ts'
import { found, isGateway, type Session, withExisting } from './session.ts'

type Act = (pawl: Pawl) => Promise<Extract<Answer, { ok: true }>>

/** The same words over HTTP are an operator's acts: here, too, they are told before they are done. */
export const operated = (session: Session, act: ActName, id: string, move: Act): Promise<void> =>
  moved(session, async (pawl) => {
    if (isGateway(session.url)) return await move(pawl)
    const job = await found(pawl, id)
    await audited(session, pawl.engine, job.spec.kind.tenant, { act, about: job.id })
    return await move(pawl)
  })

/** Says what has become of the job. */
export async function moved(session: Session, move: Act): Promise<void> {
  const { terminal } = session
  await withExisting(session, async (pawl) => {
    const { jobId, state, rev, replayed, cancel } = await move(pawl)
    const pending = cancel !== undefined && cancel.acknowledgedAt === undefined && state !== 'cancelled'
    terminal.tell({ jobId, state, rev, replayed, cancelRequested: pending || undefined }, () =>
      terminal.say(`${jobId} is ${terminal.paint.state(state)}${pending ? ', and its handler is told to stop' : ''}.`),
    )
    await linkJob(session, jobId)
  })
}
