/** `--keep`, `--bodies-even-of` and `--no-retention`: for how long what has ended is kept, and what is beside it. */
import type { Command } from 'commander'
import { TERMINAL_STATES } from '../core/job.ts'
import { reasonOf } from '../core/reason.ts'
import { statesBefore } from '../core/transitions.ts'
import { demandRetention, type RetentionOptions } from '../engine/retention-options.ts'
import { collect, durationOf } from './arguments.ts'
import { chosen, listOf } from './choice.ts'
import { Usage } from './exit.ts'

export interface KeepOptions {
  readonly keep?: readonly string[]
  readonly bodiesEvenOf?: string
  /** False by `--no-retention`. */
  readonly retention?: boolean
}

const KEPT = ['succeeded', 'ended', 'logs', 'bodies'] as const
/** What single job types may have times of their own for. */
const KEPT_BY_TYPE = ['logs', 'bodies'] as const
const REOPENABLE = TERMINAL_STATES.filter((state) => statesBefore('reopen').includes(state))

export const keepOptions = (command: Command): Command =>
  command
    .option(
      '--keep <what=duration>',
      'how long ended jobs are kept (succeeded, ended), their logs in full (logs, logs:<type>), their bodies (bodies, bodies:<type>); may be repeated (docs/operating.md)',
      collect,
    )
    .option('--bodies-even-of <states>', 'whose bodies go although they could be redriven, and then cannot be')
    .option('--no-retention', 'remove nothing: another process does, or nobody should')

/** Whether anything was said about when something goes. */
export const saysWhen = ({ keep, bodiesEvenOf }: KeepOptions): boolean => (keep ?? bodiesEvenOf) !== undefined

/** What a process that is started with these removes; false: nothing. */
export function retentionOf(options: KeepOptions): RetentionOptions | false {
  if (options.retention === false && saysWhen(options))
    throw new Usage('With --no-retention nothing is removed, so there is nothing to say about when.')
  if (options.retention === false) return false
  const ages = agesOf(options.keep ?? [])
  const [logs, bodies] = KEPT_BY_TYPE.map((what) => agesByType(what, ages))
  const bodiesEvenOf = listOf(options.bodiesEvenOf)?.map((name) => chosen('state to redrive from', name, REOPENABLE))
  if (bodiesEvenOf !== undefined && bodies === undefined && !ages.has('bodies'))
    throw new Usage('--bodies-even-of is about bodies that go, and none do.', 'Say after how long: --keep bodies=30d')
  const retention: RetentionOptions = {
    succeededMs: ages.get('succeeded'),
    endedMs: ages.get('ended'),
    verboseMs: ages.get('logs'),
    verboseMsByType: logs,
    bodiesMs: ages.get('bodies'),
    bodiesMsByType: bodies,
    bodiesEvenOf,
  }
  try {
    demandRetention(retention)
  } catch (error) {
    throw new Usage(`--keep: ${reasonOf(error)}.`)
  }
  return retention
}

/** By what was said: `bodies`, `bodies:mail.send`. A duration has no `=` in it; the name of a type may. */
function agesOf(pairs: readonly string[]): ReadonlyMap<string, number> {
  const ages = new Map<string, number>()
  for (const pair of pairs) {
    const [, what = pair, type, text = ''] = /^([^:=]*)(?::(.+))?=([^=]*)$/s.exec(pair) ?? []
    const kept =
      type === undefined ? chosen('thing to keep', what, KEPT) : chosen('thing to keep by type', what, KEPT_BY_TYPE)
    const name = type === undefined ? kept : `${kept}:${type}`
    if (ages.has(name)) throw new Usage(`--keep says twice how long ${name} are kept.`)
    ages.set(name, durationOf(`--keep ${name}`, text))
  }
  return ages
}

function agesByType(what: string, ages: ReadonlyMap<string, number>): Readonly<Record<string, number>> | undefined {
  const found = [...ages].filter(([name]) => name.startsWith(`${what}:`))
  return found.length === 0
    ? undefined
    : Object.fromEntries(found.map(([name, ms]) => [name.slice(what.length + 1), ms]))
}
