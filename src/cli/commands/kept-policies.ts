/** `pawl policy set | show | ls | rm`: policies in the store, which hold for the jobs of one tenant. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { reasonOf } from '../../core/reason.ts'
import type { KeptPolicy } from '../../policy/kept.ts'
import { countOf } from '../choice.ts'
import { examples } from '../example.ts'
import { Missing } from '../exit.ts'
import type { Context } from '../program.ts'
import { type Session, withExisting, withPawl } from '../session.ts'
import { safe } from '../terminal.ts'

interface RevOptions {
  readonly rev?: string
}

export function keptPolicies(group: Command, { session }: Context): void {
  const set = group
    .command('set <policy-name> <file>')
    .description('set what holds for the jobs of a tenant (--tenant), if it is a policy')
    .option('--rev <number>', 'only if this revision is replaced; 0: only if there is none')
    .action((name: string, file: string, options: RevOptions) => setPolicy(session(), name, file, options))
  examples(set, 'pawl policy set chat chat.yaml', 'pawl policy set chat chat.yaml --rev 3 --tenant acme')
  group
    .command('ls')
    .alias('list')
    .description('the policies that are set for a tenant')
    .action(() => list(session()))
  group
    .command('show <policy-name>')
    .description('one of them, as it was set')
    .action((name: string) => show(session(), name))
  group
    .command('rm <policy-name>')
    .description('remove one; where schedulers go by settings alone, nobody is let in without any')
    .option('--rev <number>', 'only if it is still at this revision')
    .action((name: string, options: RevOptions) => remove(session(), name, options))
}

const revOf = ({ rev }: RevOptions): number | undefined =>
  rev === undefined ? undefined : countOf('--rev', rev, { min: 0, max: Number.MAX_SAFE_INTEGER })

async function setPolicy(session: Session, name: string, file: string, options: RevOptions): Promise<void> {
  const { terminal } = session
  const rev = revOf(options)
  const text = textIn(file)
  await withPawl(session, async ({ policies }) => {
    const policy = await policies.set(name, text, { rev })
    terminal.tell(told(policy), () => terminal.say(`Policy ${safe(name)} is set, revision ${policy.rev}.`))
  })
}

function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Missing(`${file} cannot be read: ${reasonOf(error)}`)
  }
}

async function list(session: Session): Promise<void> {
  const { terminal } = session
  await withExisting(session, async ({ policies }) => {
    const found = await policies.list()
    terminal.tell({ policies: found.map(told) }, () => {
      if (found.length === 0) return terminal.say('No policies are set for this tenant.')
      const rows = found.map(({ name, rev, by, setAt, faults }) => [name, rev, iso(setAt), by, faults[0] ?? ''])
      terminal.table(['POLICY', 'REV', 'SET AT', 'BY', 'BROKEN AT'], rows)
    })
  })
}

async function show(session: Session, name: string): Promise<void> {
  const { terminal } = session
  await withExisting(session, async ({ policies }) => {
    const policy = await policies.get(name)
    if (policy === undefined) throw missing(name)
    terminal.tell(told(policy), () => {
      for (const line of policy.text.trimEnd().split('\n')) terminal.print(`${safe(line)}\n`)
      for (const fault of policy.faults) terminal.warn(`broken: ${safe(fault)}`)
    })
  })
}

async function remove(session: Session, name: string, options: RevOptions): Promise<void> {
  const { terminal } = session
  const rev = revOf(options)
  await withExisting(session, async ({ policies }) => {
    if (!(await policies.rm(name, { rev }))) throw missing(name)
    const left = (await policies.list()).length
    terminal.tell({ removed: name, left }, () => {
      terminal.say(`Policy ${safe(name)} is removed.`)
      if (left === 0)
        terminal.say('This tenant has none any more: where schedulers go by settings: alone, its jobs are denied.')
    })
  })
}

const missing = (name: string): Missing => new Missing(`There is no policy ${name}.`, 'See them: pawl policy ls')

const iso = (at: number): string => new Date(at).toISOString()

const told = ({ setAt, ...rest }: KeptPolicy) => ({ ...rest, setAt: iso(setAt) })
