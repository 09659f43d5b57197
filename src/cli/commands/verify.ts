/** `pawl verify`: folds every log against its record and names every difference. */
import type { Command } from 'commander'
import { type Verification, verify as verifyAll, verifyOne } from '../../engine/verify.ts'
import { examples } from '../example.ts'
import { Ended, EXIT } from '../exit.ts'
import type { Context } from '../program.ts'
import { found, needsStore, type Session, withExisting } from '../session.ts'
import { safe } from '../terminal.ts'
import { type Filters, filters, queryOf } from './jobs.ts'

export function verify(parent: Command, { session }: Context): void {
  const command = filters(
    parent
      .command('verify [id]')
      .description('fold every log against its record, keys and counts; exits with 1 if anything differs'),
  ).action((id: string | undefined, options: Filters) => run(session(), id, options))
  examples(
    command,
    'pawl verify',
    'pawl verify pj_1k9f3 --json',
    'pawl verify --queue mail --url postgres://localhost/app',
  )
}

async function run(session: Session, id: string | undefined, options: Filters): Promise<void> {
  needsStore(session, 'verify')
  const { terminal } = session
  const told = await withExisting(session, async (pawl): Promise<Verification> => {
    if (id !== undefined) return await verifyOne(pawl.engine, await found(pawl, id))
    const { tally } = await pawl.engine.events({ by: 'tally' })
    const all = tally.reduce((sum, { count }) => sum + count, 0)
    const query = queryOf(session, options)
    const whole = Object.values(query).every((value) => value === undefined)
    return await verifyAll(pawl.engine, query, (jobs) => terminal.progress('verified', jobs, whole ? all : undefined))
  })
  terminal.progressDone()
  const { jobs, events, discrepancies } = told
  terminal.tell(told, () => {
    for (const { job, about, invariant, what } of discrepancies)
      terminal.say(
        `${terminal.paint.red(about)} ${job ?? 'store'}${invariant === undefined ? '' : ` ${invariant}`}: ${safe(what)}`,
      )
    terminal.say(
      `${jobs} jobs, ${events} events, ${discrepancies.length === 0 ? terminal.paint.green('no difference') : `${discrepancies.length} differences`}.`,
    )
  })
  if (discrepancies.length > 0) throw new Ended(EXIT.failure)
}
