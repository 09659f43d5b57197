/** `pawl verify`: folds every log against its record and names every difference. */
import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { type Discrepancy, type Verification, verify as verifyAll, verifyOne } from '../../engine/verify.ts'
import { examples } from '../example.ts'
import { Ended, EXIT } from '../exit.ts'
import type { Context } from '../program.ts'
import { found, isFile, needsStore, type Session, withExisting } from '../session.ts'
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
  const damaged = await damage(session)
  const told = await withExisting(session, async (pawl): Promise<Verification> => {
    if (id !== undefined) return await verifyOne(pawl.engine, await found(pawl, id))
    const { tally } = await pawl.engine.events({ by: 'tally' })
    const all = tally.reduce((sum, { count }) => sum + count, 0)
    const query = queryOf(session, options)
    const whole = Object.values(query).every((value) => value === undefined)
    return await verifyAll(pawl.engine, query, (jobs) => terminal.progress('verified', jobs, whole ? all : undefined))
  }).catch((error: unknown) => {
    // What was found comes first: that the rest could not be read is a consequence.
    if (damaged.length === 0) throw error
    return NOTHING
  })
  terminal.progressDone()
  const { jobs, events } = told
  const discrepancies = [...damaged, ...told.discrepancies]
  terminal.tell({ ...told, discrepancies }, () => {
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

const NOTHING: Verification = { jobs: 0, events: 0, discrepancies: [] }

/** Of a file, what SQLite itself finds wrong with it: what cannot be read cannot be folded either. */
async function damage({ url, terminal }: Session): Promise<readonly Discrepancy[]> {
  if (!isFile(url) || !existsSync(url)) return []
  const { damageOf } = await import('../../store/sqlite/check.ts')
  const found = damageOf(url, (tables) => terminal.progress('tables checked', tables))
  terminal.progressDone()
  return Object.entries(found?.tables ?? {}).map(([table, what]) => ({
    job: undefined,
    about: 'unreadable',
    invariant: undefined,
    what: `table ${table} is damaged: ${what} ${found?.next}`,
  }))
}
