/** One command line from its words to its exit code. */
import { assert } from '../core/assert.ts'
import { visibleJson } from '../system/visible.ts'
import { EXIT, type Failure, failureOf } from './exit.ts'
import { exposures } from './exposed.ts'
import { linkRefused } from './links.ts'
import { program } from './program.ts'
import { type Flags, type Session, type Surroundings, sessionOf } from './session.ts'
import { type Streams, safe, Terminal } from './terminal.ts'

export interface Around extends Surroundings {
  readonly streams: Streams
}

export interface Exit {
  readonly exit: number
  /** False: it was told to stop and did not end by itself. */
  readonly graceful: boolean
}

export async function run(args: readonly string[], around: Around): Promise<Exit> {
  const { streams, signal } = around
  let session: Session | undefined
  const tree = program({
    session: () => {
      assert(session !== undefined, 'options are read before a command runs')
      return session
    },
  })
  tree.hook('preAction', () => {
    const terminal = terminalFor(tree.opts(), around)
    if (!terminal.look.quiet) for (const warning of exposures(args)) terminal.warn(terminal.paint.yellow(warning))
    session = sessionOf(terminal, tree.opts<Flags>(), around)
  })
  for (const each of [tree, ...tree.commands.flatMap((child) => [child, ...child.commands])]) {
    each.exitOverride().configureOutput({ writeOut: streams.out, writeErr: (text) => streams.err(shown(text)) })
  }
  const stopped = new Promise<'stopped'>((resolve) => {
    if (signal.aborted) resolve('stopped')
    signal.addEventListener('abort', () => resolve('stopped'), { once: true })
  })
  const done = tree.parseAsync([...args], { from: 'user' }).then(
    () => EXIT.ok,
    async (error: unknown) => {
      const failure = failureOf(error)
      const inJson = args.includes('--json')
      if (failure.code !== undefined) complain(session?.terminal ?? terminalFor({ json: inJson }, around), failure)
      const { job, state } = failure.refusal ?? {}
      if (session !== undefined && job !== undefined && state !== undefined) await linkRefused(session, job)
      return failure.exit
    },
  )
  const first = await Promise.race([done, stopped.then(() => settled(tree.args, done))])
  session?.terminal.progressDone()
  return first === undefined ? { exit: EXIT.interrupted, graceful: false } : { exit: first, graceful: true }
}

/** What is wrong with a command line is said with its own words in it, which somebody else may have made up. */
const shown = (text: string): string => text.split('\n').map(safe).join('\n')

/** What serves until it is stopped, and therefore stops in order. */
const SERVES: ReadonlySet<string | undefined> = new Set(['serve', 'demo', 'work'])

const settled = async (args: readonly string[], done: Promise<number>): Promise<number | undefined> =>
  SERVES.has(args[0]) ? await done : undefined

function terminalFor(
  flags: { readonly json?: boolean; readonly quiet?: boolean; readonly color?: boolean },
  { streams, env }: Around,
): Terminal {
  const json = flags.json === true
  const { FORCE_COLOR: force, NO_COLOR: no, TERM: term } = env
  const forced = force !== undefined && force !== '0' && force !== 'false'
  const wanted = forced || ((no ?? '') === '' && force === undefined && streams.isTTY && term !== 'dumb')
  return new Terminal(streams, { json, quiet: flags.quiet === true, colour: !json && flags.color !== false && wanted })
}

/** To standard error: the code, why, who owns the job, what to do next. */
function complain(terminal: Terminal, { exit, code, message, next, refusal, violations }: Failure): void {
  const { paint } = terminal
  if (terminal.look.json) {
    const { job, state, rev, owner, leaseExpiresAt, holder, command } = refusal ?? {}
    const until = leaseExpiresAt === undefined ? undefined : new Date(leaseExpiresAt).toISOString()
    const about = {
      job,
      state,
      rev,
      owner,
      leaseExpiresAt: until,
      holder,
      command,
      violations: violations.length === 0 ? undefined : violations,
    }
    terminal.warn(visibleJson({ error: { code, message, next, exit, ...about } }))
    return
  }
  terminal.warn(`${paint.red(`pawl: ${code}`)}: ${safe(message)}`)
  for (const { field, rule } of violations) {
    const line = `${field}: ${rule}`
    if (!message.includes(line)) terminal.warn(`  ${safe(line)}`)
  }
  if (refusal?.job !== undefined && refusal.state !== undefined)
    terminal.warn(`  job    ${safe(refusal.job)} is ${refusal.state} (rev ${refusal.rev})`)
  if (refusal?.owner !== undefined) {
    const until =
      refusal.leaseExpiresAt === undefined ? '' : `, until ${new Date(refusal.leaseExpiresAt).toISOString()}`
    terminal.warn(`  owner  ${safe(refusal.owner)}${until}`)
  }
  if (refusal?.holder !== undefined) terminal.warn(`  holder ${safe(refusal.holder)}`)
  if (next !== undefined) terminal.warn(`  next   ${safe(next)}`)
  if (refusal !== undefined) terminal.warn(paint.dim(`  more   pawl explain ${code}`))
}
