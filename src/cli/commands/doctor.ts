/** `pawl doctor`: is everything there that jobs need? Each finding comes with what to do about it. */
import { existsSync, statSync } from 'node:fs'
import type { Command } from 'commander'
import { DEFAULT_TENANT } from '../../core/job.ts'
import { defineJob } from '../../library/define-job.ts'
import type { Pawl } from '../../library/pawl.ts'
import type { Link } from '../../store/postgres/connection/link.ts'
import { keepsBackend } from '../../store/postgres/connection/pooling.ts'
import { type Ask, type MigrationStatus, migrationStatus } from '../../store/postgres/schema/migrate.ts'
import { STORE } from '../../store/postgres/schema/store.ts'
import { ledgerIn } from '../../store/redis/connection/address.ts'
import { queueKey } from '../../store/store.ts'
import { withoutCredentials } from '../../system/credentials.ts'
import type { Durability } from '../../system/durability.ts'
import { realRandom } from '../../system/random.ts'
import { visibleJson } from '../../system/visible.ts'
import { examples } from '../example.ts'
import { Ended, EXIT, failureOf } from '../exit.ts'
import type { Context } from '../program.ts'
import { asked, databaseOf, isFile, isGateway, isPostgres, opened, type Session, withExisting } from '../session.ts'
import { safe } from '../terminal.ts'

interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'failure'
  readonly found: string
  readonly next: string | undefined
}

const SKEW_MOST_MS = 1_000
const HINT_WITHIN_MS = 3_000
const THREAD_WITHIN_MS = 5_000
const OVERDUE_MS = 30_000
const SCHEMA = 'pawl'
/** Looked at whole within seconds. */
const CHECKED_MOST = 1 << 30

export function doctor(parent: Command, { session }: Context): void {
  const command = parent
    .command('doctor')
    .description('check store, file, migrations, clocks, poolers, hints, leases; exits with 1 if anything fails')
    .action(() => run(session()))
  examples(command, 'pawl doctor', 'pawl doctor --url postgres://localhost/app --json')
}

async function run(session: Session): Promise<void> {
  const { terminal, url } = session
  const findings: Finding[] = []
  const add = (...more: readonly Finding[]) => {
    findings.push(...more)
    for (const { check, status, found, next } of more) {
      const { green, yellow, red, dim } = terminal.paint
      const badge = { ok: green('ok     '), warning: yellow('warning'), failure: red('FAILURE') }[status]
      terminal.say(`${badge} ${check.padEnd(12)} ${safe(found)}`)
      if (next !== undefined) terminal.say(`${' '.repeat(21)}${dim(`→ ${safe(next)}`)}`)
    }
  }
  if (isPostgres(url) || ledgerIn(url) !== undefined) add(...(await postgres(session)))
  if (isFile(url) && existsSync(url)) add(...(await file(session)))
  if (isGateway(url)) add(await ready(session))
  if (findings.every(({ status }) => status !== 'failure')) {
    try {
      await withExisting(session, async (pawl) => {
        add(await reachable(session, pawl))
        if (pawl.below.durability !== undefined) add(durable(pawl.below.durability))
        add(await clocks(session, pawl))
        add(await hints(session, pawl))
        add(await ticking(pawl))
        if (!isGateway(url)) add(await keeper(session, pawl))
      })
    } catch (error) {
      const { message, next } = failureOf(error)
      add(failure('store', message, next ?? 'See that it runs, and that --url leads there.'))
    }
  }
  const ok = findings.every(({ status }) => status !== 'failure')
  if (terminal.look.json) terminal.print(`${visibleJson({ url: withoutCredentials(url), ok, findings })}\n`)
  if (!ok) throw new Ended(EXIT.failure)
}

const fine = (check: string, found: string): Finding => ({ check, status: 'ok', found, next: undefined })
const warning = (check: string, found: string, next: string): Finding => ({ check, status: 'warning', found, next })
const failure = (check: string, found: string, next: string): Finding => ({ check, status: 'failure', found, next })

async function ready(session: Session): Promise<Finding> {
  try {
    const { status } = await asked(session, 'GET', '/readyz')
    return fine('gateway', `it is ${String(status)}`)
  } catch (error) {
    return failure('gateway', failureOf(error).message, 'See that pawl serve runs there, and that its store answers.')
  }
}

async function reachable({ clock, url }: Session, pawl: Pawl): Promise<Finding> {
  const beganMs = clock.monotonicMs()
  await pawl.find({ limit: 1 })
  const tookMs = Math.round(clock.monotonicMs() - beganMs)
  return fine('store', `${withoutCredentials(url)} answers in ${tookMs} ms`)
}

/** What the server's settings make of an answer: a crash may take back what they do not keep. */
const durable = ({ level, promise }: Durability): Finding =>
  level === 'kept'
    ? fine('durability', promise)
    : warning('durability', promise, 'docs/redis.md tells which settings keep what was answered.')

/** The store's clock rules; a machine that is far from it shows times nobody else sees. */
async function clocks({ clock }: Session, pawl: Pawl): Promise<Finding> {
  const beganMs = clock.monotonicMs()
  const { now } = await pawl.find({ limit: 1 })
  const tripMs = clock.monotonicMs() - beganMs
  const skewMs = Math.round(clock.now() - tripMs / 2 - now)
  const found = `this machine is ${Math.abs(skewMs)} ms ${skewMs < 0 ? 'behind' : 'ahead of'} the store`
  return Math.abs(skewMs) <= SKEW_MOST_MS
    ? fine('clock', found)
    : warning(
        'clock',
        found,
        'Jobs go by the store’s clock and are safe; set this one for the sake of logs and delays.',
      )
}

/** Writes a document and sees whether somebody else hears of it. Workers poll without, and are slower. */
async function hints(session: Session, pawl: Pawl): Promise<Finding> {
  const { clock, timers, signal, url } = session
  if (isGateway(url)) return fine('hints', 'come over the gateway')
  if (url.startsWith('memory:')) return fine('hints', 'nobody else can have this store')
  const queue = `pawl-doctor-${realRandom.hex64()}`
  const heard = new AbortController()
  await using other = await opened(session)
  await using _listening = await other.engine.subscribe((hint) => {
    if (hint.about === 'anything' || (hint.about === 'queue' && hint.queue === queue)) heard.abort()
  })
  const beganMs = clock.monotonicMs()
  await pawl.wake(queue)
  await timers.sleep(HINT_WITHIN_MS, AbortSignal.any([signal, heard.signal]))
  const tookMs = Math.round(clock.monotonicMs() - beganMs)
  const key = queueKey(session.tenant ?? DEFAULT_TENANT, queue)
  await pawl.engine.settings([{ op: 'remove', collection: 'queue', key, rev: undefined }])
  return heard.signal.aborted
    ? fine('hints', `one came after ${tookMs} ms`)
    : warning(
        'hints',
        `none came within ${HINT_WITHIN_MS} ms: workers find jobs by polling, up to a second later`,
        'Behind a transaction pooler, give --direct-url the database’s own address.',
      )
}

/** Somebody has to notice what nobody else does: leases that ended, deadlines that passed. */
async function ticking(pawl: Pawl): Promise<Finding> {
  const { jobs, now } = await pawl.find({ states: ['claimed', 'running', 'stalled'], order: 'oldest', limit: 200 })
  const overdue = jobs.filter(({ nextTickAt }) => nextTickAt !== undefined && nextTickAt < now - OVERDUE_MS)
  return overdue.length === 0
    ? fine('ticker', 'no lease or deadline is overdue')
    : failure(
        'ticker',
        `${overdue.length} jobs are overdue by more than ${OVERDUE_MS / 1_000} s: nobody ticks`,
        'Run pawl serve or pawl work on this store, or open it without ticker: false.',
      )
}

/** Where leases are kept by a thread, a handler that blocks the event loop keeps its lease. */
async function keeper({ clock, timers, signal }: Session, pawl: Pawl): Promise<Finding> {
  const job = defineJob({ type: 'pawl.doctor', queue: `pawl-doctor-${realRandom.hex64()}`, run: () => undefined })
  await using worker = pawl.work([job])
  const untilMs = clock.monotonicMs() + THREAD_WITHIN_MS
  while (worker.keeper !== 'thread' && clock.monotonicMs() < untilMs && !signal.aborted) await timers.sleep(20, signal)
  const where = worker.keeper
  await worker.stop()
  // A worker announces its types: nobody should find this one.
  const key = JSON.stringify([job.tenant, job.type])
  await pawl.engine.settings([{ op: 'remove', collection: 'type', key, rev: undefined }])
  return where === 'thread'
    ? fine('keeper', 'leases are kept by a thread of their own')
    : warning(
        'keeper',
        'leases are kept on the main thread: a handler that blocks it for long loses its lease',
        'Nothing for memory:; elsewhere look into the log for what the thread said.',
      )
}

/** A file that is not sound may be opened all the same, and tells so only where it is read. */
async function file({ url, terminal }: Session): Promise<readonly Finding[]> {
  const { damageOf, openToOthers } = await import('../../store/sqlite/check.ts')
  const findings: Finding[] = []
  if (statSync(url).size > CHECKED_MOST) {
    const next = `pawl verify --url ${url} looks at all of it.`
    findings.push(warning('file', `it is too big to be looked at whole here`, next))
  } else {
    const found = damageOf(url, (tables) => terminal.progress('checked', tables))
    terminal.progressDone()
    const tables = Object.entries(found?.tables ?? {}).map(([name, what]) => `${name}: ${what}`)
    findings.push(
      found === undefined
        ? fine('file', 'SQLite finds it sound')
        : failure('file', `it is damaged: ${tables.join('; ')}`, found.next),
    )
  }
  const open = openToOthers(url)
  if (open.length > 0)
    findings.push(
      warning(
        'permissions',
        `others than the owner may use ${open.join(', ')}: payloads and the fences of running jobs are in there`,
        `Unless that is wanted: chmod 600 ${open.join(' ')}`,
      ),
    )
  return findings
}

async function postgres(session: Session): Promise<readonly Finding[]> {
  const { schema = SCHEMA } = session
  const { url, blueprint } = databaseOf({ ...session, directUrl: undefined }) ?? { url: session.url, blueprint: STORE }
  const isLedger = url !== session.url
  const { visit } = await import('../../store/postgres/connection/visit.ts')
  try {
    return await visit(url, async (link) => {
      const [row] = await link.ask("select current_setting('server_version'), current_setting('synchronous_commit')")
      const [version, durable] = row ?? []
      const findings: Finding[] = [
        fine(isLedger ? 'ledger' : 'postgres', `version ${String(version)} at ${link.client.where}`),
      ]
      const ask: Ask = (text, values) => link.ask(text, values)
      findings.push(migrations(schema, await migrationStatus(ask, schema, blueprint)))
      if (durable === 'off')
        findings.push(
          failure(
            'durability',
            'synchronous_commit is off: an answered enqueue may be lost in a crash',
            'alter role … set synchronous_commit = on',
          ),
        )
      // Nothing is heard from a ledger.
      if (!isLedger) findings.push(await pooler(session, link))
      return findings
    })
  } catch (error) {
    const { message, next } = failureOf(error)
    return [failure(isLedger ? 'ledger' : 'postgres', message, next ?? 'See that it runs, and that --url leads there.')]
  }
}

function migrations(schema: string, { pending, newer, tooNew }: MigrationStatus): Finding {
  const later = 'Roll out the version of pawl that migrated it.'
  if (tooNew.length > 0) return failure('migrations', `schema ${schema} is too new: ${tooNew.join(', ')}`, later)
  if (pending.length > 0)
    return failure('migrations', `schema ${schema} lacks ${pending.join(', ')}`, 'Run pawl migrate with this --url.')
  return newer.length > 0
    ? warning('migrations', `schema ${schema} is newer than this version: ${newer.join(', ')}`, later)
    : fine('migrations', `schema ${schema} is up to date`)
}

/** Who is in between, and whether what others notify is heard all the same. */
async function pooler(session: Session, link: Link): Promise<Finding> {
  const { url, directUrl } = session
  const between = link.greeting.direct ? 'no pooler is in between' : await modeOf(url, link)
  return (await listenWorks(session, directUrl ?? url))
    ? fine('pooler', `${between}; LISTEN works${directUrl === undefined ? '' : ' past it'}`)
    : warning(
        'pooler',
        `${between}, and LISTEN does not work: jobs are found by polling`,
        'Give --direct-url (PAWL_DIRECT_URL) the database’s own address.',
      )
}

async function modeOf(url: string, link: Link): Promise<string> {
  const { visit } = await import('../../store/postgres/connection/visit.ts')
  const keeps = await visit(url, (other) => keepsBackend(link, other))
  return keeps
    ? 'a pooler is in between, in session mode as far as can be seen'
    : 'a pooler is in between that lends backends (transaction mode): one statement at a time per connection'
}

/** Where a backend is lent, whoever has it next would be told. */
async function listenWorks({ timers, signal }: Session, url: string): Promise<boolean> {
  const { visit } = await import('../../store/postgres/connection/visit.ts')
  return await visit(url, (link) =>
    visit(url, async (other) => {
      if (!link.greeting.direct && !(await keepsBackend(link, other))) return false
      const channel = `pawl_doctor_${realRandom.hex64()}`
      const heard = new AbortController()
      link.client.heard((name) => {
        if (name === channel) heard.abort()
      })
      await link.ask(`listen ${channel}`)
      await other.ask(`notify ${channel}`)
      await timers.sleep(HINT_WITHIN_MS, AbortSignal.any([signal, heard.signal]))
      return heard.signal.aborted
    }),
  )
}
