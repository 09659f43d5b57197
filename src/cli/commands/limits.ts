/** `pawl limits …`: what jobs share that is limited, what holds for it, and what was learnt about whoever is behind it. */
import type { Command } from 'commander'
import { KEY_STATES, type KeyState, type Limit } from '../../core/flow/key.ts'
import { LIMITS } from '../../core/limits.ts'
import type { LimitStatus } from '../../engine/engine.ts'
import { duration } from '../../library/duration.ts'
import type { LimitDesk } from '../../library/limits.ts'
import { chosen, countOf, listOf } from '../choice.ts'
import { examples } from '../example.ts'
import { Missing, Usage } from '../exit.ts'
import type { Context } from '../program.ts'
import { type Session, withExisting, withPawl } from '../session.ts'
import { safe } from '../terminal.ts'

interface SetOptions {
  readonly concurrency?: string
  readonly rate?: string
  readonly budget?: string
  readonly weight?: string
}

export function limits(parent: Command, { session }: Context): void {
  const group = parent.command('limits').description('limit keys: what holds for them, what runs and waits under them')
  group
    .command('ls')
    .alias('list')
    .description('keys with their states')
    .option('-s, --state <key-states>', 'only those: open, slow, broken, probing; several with commas')
    .action(({ state }: { readonly state?: string }) => list(session(), state))
  group
    .command('show <limit>')
    .description('one key, with its last changes and what caused them')
    .action((key: string) => show(session(), key))
  const set = group
    .command('set <limit>')
    .description('what holds for it from now on, whatever its job type declares')
    .option('-c, --concurrency <number>', 'so many jobs at once')
    .option('-r, --rate <rate>', 'so many starts within any window: 5/s, 100/m, 10/30s')
    .option('-b, --budget <budget>', 'so much to spend within each window: 100000/1h')
    .option('-w, --weight <number>', 'its share of the turns')
    .action((key: string, options: SetOptions) => setLimit(session(), key, options))
  examples(set, 'pawl limits set shop.example -c 2 -r 5/s', 'pawl limits set customer-7 --weight 3')
  group
    .command('rm <limit>')
    .description('what its job type declares holds again')
    .action((key: string) => change(session(), key, 'rm'))
  group
    .command('reset <limit>')
    .description('forget that it was pushed back: all that its limit has is let in')
    .action((key: string) => change(session(), key, 'reset'))
  group
    .command('probe <limit>')
    .description('end its cool-down: one job finds out whether it works')
    .action((key: string) => change(session(), key, 'probe'))
}

async function list(session: Session, state: string | undefined): Promise<void> {
  const { terminal } = session
  const states = listOf(state)?.map((word): KeyState => chosen('state of a key', word, KEY_STATES))
  await withExisting(session, async ({ limits: desk }) => {
    const found: LimitStatus[] = []
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await desk.list({ states, cursor })
      found.push(...page.limits)
      cursor = page.cursor
    }
    terminal.tell({ limits: found.map(told) }, () => {
      if (found.length === 0) return terminal.say('There are no limit keys like that.')
      const rows = found.map(({ key, state: now, limit, taken, held, until, session: n }) => [
        key,
        now,
        words(limit),
        taken,
        held,
        n,
        until === undefined ? '' : iso(until),
      ])
      terminal.table(['KEY', 'STATE', 'LIMIT', 'RUNNING', 'HELD', 'SESSION', 'UNTIL'], rows)
    })
  })
}

async function show(session: Session, key: string): Promise<void> {
  const { terminal } = session
  await withExisting(session, async ({ limits: desk }) => {
    const status = await desk.get(key)
    if (status === undefined) throw missing(key)
    terminal.tell(told(status), () => {
      terminal.say(sentence(status))
      const rows = status.log.map((event) => [
        iso(event.at),
        event.type === 'limited' ? `limited: ${words(event.payload.limit)}` : event.type,
        `${event.from} → ${event.to}`,
        event.cause.code ?? '',
        event.cause.job ?? event.cause.actor,
      ])
      if (rows.length > 0) terminal.table(['AT', 'WHAT', 'STATE', 'CODE', 'BY'], rows)
    })
  })
}

async function setLimit(session: Session, key: string, options: SetOptions): Promise<void> {
  const { concurrency, rate, budget, weight } = options
  if (Object.keys(options).length === 0)
    throw new Usage('Say what is to hold.', `pawl limits set ${key} --concurrency 2`)
  const limit = {
    concurrency: concurrency === undefined ? undefined : countOf('--concurrency', concurrency, LIMITS.concurrency),
    rate,
    budget: budget === undefined ? undefined : budgetOf(budget),
    weight: weight === undefined ? undefined : Number(weight),
  }
  const { terminal } = session
  await withPawl(session, async ({ limits: desk }) => {
    const status = await desk.set(key, limit)
    terminal.tell(told(status), () => terminal.say(sentence(status)))
  })
}

const DONE = {
  rm: (desk: LimitDesk, key: string) => desk.rm(key),
  reset: (desk: LimitDesk, key: string) => desk.reset(key),
  probe: (desk: LimitDesk, key: string) => desk.probe(key),
} as const

async function change(session: Session, key: string, verb: keyof typeof DONE): Promise<void> {
  const { terminal } = session
  await withExisting(session, async ({ limits: desk }) => {
    const status = await DONE[verb](desk, key)
    if (status === undefined) throw missing(key)
    terminal.tell(told(status), () => terminal.say(sentence(status)))
  })
}

const missing = (key: string): Missing => new Missing(`There is no limit key ${key}.`, 'See them: pawl limits ls')

function budgetOf(text: string) {
  const [, amount, per] = /^(\d+(?:\.\d+)?)\/(.+)$/.exec(text) ?? []
  if (amount === undefined || per === undefined)
    throw new Usage(`A budget is an amount and a window, 100000/1h, not ${text}.`)
  return { amount: Number(amount), per: duration(/^\d/.test(per) ? per : `1${per}`) }
}

function sentence({ key, state, limit, taken, held, until }: LimitStatus): string {
  const shut = until === undefined ? '' : ` until ${iso(until)}`
  return `Key ${safe(key)} is ${state}${shut}: ${words(limit)}; ${taken} run, ${held} wait.`
}

function words({ concurrency, rate, budget, weight }: Limit): string {
  const said = [
    concurrency === undefined ? undefined : `${concurrency} at once`,
    rate === undefined ? undefined : `${rate.most} per ${rate.perMs} ms`,
    budget === undefined ? undefined : `${budget.amount} to spend per ${budget.perMs} ms`,
    weight === undefined ? undefined : `weight ${weight}`,
  ].filter((each) => each !== undefined)
  return said.length === 0 ? 'no limit' : said.join(', ')
}

const iso = (at: number): string => new Date(at).toISOString()

const told = ({ since, until, log, ...rest }: LimitStatus) => ({
  ...rest,
  since: since === undefined ? undefined : iso(since),
  until: until === undefined ? undefined : iso(until),
  log: log.map(({ at, ...event }) => ({ ...event, at: iso(at) })),
})
