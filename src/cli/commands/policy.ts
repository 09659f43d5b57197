/** `pawl policy …`: a policy before it holds, and why it says what it says. */
import type { Command } from 'commander'
import type { Job } from '../../core/job.ts'
import { askedOf, topicOf } from '../../core/recast.ts'
import type { CaseResult } from '../../policy/cases.ts'
import type { Finding, Judgement } from '../../policy/judgement.ts'
import { besideRecord, type Difference, differences, outcomeOf } from '../../policy/outcome.ts'
import type { Snapshot } from '../../policy/snapshot.ts'
import { countOf } from '../choice.ts'
import { examples } from '../example.ts'
import { Ended, EXIT, Missing } from '../exit.ts'
import { linkJob } from '../links.ts'
import type { Context } from '../program.ts'
import { found, type Session, withExisting } from '../session.ts'
import { safe } from '../terminal.ts'
import { keptPolicies } from './kept-policies.ts'

export function policy(parent: Command, context: Context): void {
  const { session } = context
  const group = parent
    .command('policy')
    .description('rules for who is admitted: check, test, try and set them (docs/policy.md)')
  const check = group
    .command('check <folder>')
    .description('whether it is a policy; exits with 1 and every place where it is not')
    .action((folder: string) => checked(session(), folder))
  examples(check, 'pawl policy check policies/')
  group
    .command('test <folder>')
    .description('its tables of cases (*.cases.yaml); exits with 1 if one comes to something else')
    .action((folder: string) => tested(session(), folder))
  const explain = group
    .command('explain <folder> <job>')
    .description('what the policy says about a job that is there, rule by rule')
    .action((folder: string, id: string) => explained(session(), folder, id))
  examples(explain, 'pawl policy explain policies/ pj_1k9f3')
  const simulate = group
    .command('simulate <folder>')
    .description('what it would have said about the last jobs, beside what became of them; changes nothing')
    .option('-n, --last <number>', 'how many jobs', '1000')
    .option('--against <folder>', 'compare with what another policy would have said')
    .action((folder: string, options: SimulateOptions) => simulated(session(), folder, options))
  examples(
    simulate,
    'pawl policy simulate new-policies/ --against policies/',
    'pawl policy simulate policies/ -n 10000',
    'pawl policy simulate policies/ --against settings:',
  )
  keptPolicies(group, context)
}

/** Of a folder, or, by `settings:`, what the tenant has set. */
async function loaded(session: Session, folder: string): Promise<Snapshot> {
  const { terminal } = session
  const { BrokenPolicy, policyIn } = await import('../../policy/folder.ts')
  const { SETTINGS, snapshotOfTexts } = await import('../../policy/kept.ts')
  const { faultText } = await import('../../policy/source.ts')
  try {
    if (folder !== SETTINGS) return policyIn(folder)
    const compiled = await withExisting(session, async ({ policies, tenant }) =>
      snapshotOfTexts(tenant, await policies.list()),
    )
    if ('faults' in compiled) throw new BrokenPolicy(compiled.faults)
    return compiled.snapshot
  } catch (error) {
    if (!(error instanceof BrokenPolicy)) throw new Missing(`${folder} cannot be read: ${String(error)}`)
    const { faults } = error
    terminal.tell({ ok: false, faults }, () => {
      for (const fault of faults) terminal.print(`${safe(faultText(fault))}\n`)
    })
    throw new Ended(EXIT.failure)
  }
}

async function checked(session: Session, folder: string): Promise<void> {
  const { terminal } = session
  const { hash, rules, routes } = await loaded(session, folder)
  const routed = routes.length === 0 ? '' : `, ${routes.length} routes`
  terminal.tell({ ok: true, policyHash: hash, rules: rules.length, routes: routes.length }, () =>
    terminal.say(`${rules.length} rules${routed}, ${terminal.paint.bold(hash)}`),
  )
}

async function tested(session: Session, folder: string): Promise<void> {
  const { terminal } = session
  const snapshot = await loaded(session, folder)
  const { isCases, tried } = await import('../../policy/cases.ts')
  const { filesIn } = await import('../../policy/folder.ts')
  const { faultText } = await import('../../policy/source.ts')
  const outcome = tried(snapshot, filesIn(folder, isCases))
  if ('faults' in outcome) {
    terminal.tell({ ok: false, faults: outcome.faults }, () => {
      for (const fault of outcome.faults) terminal.print(`${safe(faultText(fault))}\n`)
    })
    throw new Ended(EXIT.failure)
  }
  const { results } = outcome
  const wrong = results.filter(({ ok }) => !ok)
  terminal.tell({ ok: wrong.length === 0, policyHash: snapshot.hash, cases: results }, () => {
    for (const each of wrong) terminal.print(`${safe(wrongText(each))}\n`)
    terminal.say(`${results.length - wrong.length} of ${results.length} cases come to what they should.`)
  })
  if (wrong.length > 0) throw new Ended(EXIT.failure)
}

function wrongText({
  file,
  line,
  name,
  expected,
  found: { decision, rule, reason, route, redirects },
}: CaseResult): string {
  const by = expected.rule === undefined ? '' : ` by ${expected.rule}`
  const over = (id: string | undefined) => (expected.route === undefined ? '' : ` over ${id ?? 'no route'}`)
  const to = (topic: string | undefined) => (expected.topic === undefined ? '' : ` to ${topic ?? 'where it was'}`)
  const why = reason === undefined ? '' : ` (${reason})`
  return `${file}:${line} ${name}: expected ${expected.decision}${by}${over(expected.route)}${to(expected.topic)}, got ${decision} by ${rule}${over(route?.id)}${to(redirects.at(-1)?.to)}${why}`
}

async function explained(session: Session, folder: string, id: string): Promise<void> {
  const { terminal } = session
  const snapshot = await loaded(session, folder)
  await withExisting(session, async (pawl) => {
    const job = asAsked(await found(pawl, id))
    const judgement = snapshot.judge(job)
    const topics = [undefined, ...judgement.redirects.map(({ to }) => to)]
    const findings = topics.flatMap((topic) => snapshot.findings(job, topic))
    terminal.tell({ job: job.id, judgement, rules: findings.map(told) }, () => {
      terminal.say(decisionText(terminal.paint.bold(judgement.decision), judgement))
      for (const line of madeOf(judgement)) terminal.say(safe(line))
      terminal.table(
        ['RULE', 'SAYS', 'APPLIES', 'WHEN'],
        findings.map((finding) => {
          const { rule, applies, when } = told(finding)
          return [rule, finding.rule.decision, applies, when]
        }),
        { yields: 'WHEN' },
      )
      if (findings.length < snapshot.rules.length)
        terminal.say(
          terminal.paint.dim(`${snapshot.rules.length - findings.length} rules are for other topics or tenants.`),
        )
    })
    await linkJob(session, job.id)
  })
}

const decisionText = (decision: string, { rule, reason, policyHash, route }: Judgement): string =>
  `${decision} by ${safe(rule)}${reason === undefined ? '' : `: ${safe(reason)}`}${route === undefined ? '' : `, over route ${safe(route.id)}`} (policy ${policyHash})`

/** What is made of the job besides letting it in. */
function* madeOf({ redirects, throttles, constraint }: Judgement): Generator<string> {
  for (const { from, to, rule } of redirects) yield `Sent from ${from} to ${to} by ${rule}.`
  for (const { key, rule, limit } of throttles)
    yield `Under key ${key} by ${rule}${limit === undefined ? '' : `, which says ${JSON.stringify(limit)} unless somebody has set another limit`}.`
  if (constraint !== undefined) yield `Constrained to ${JSON.stringify(constraint)}.`
}

/** A policy is asked about what somebody wanted, not about what one has made of it before. */
const asAsked = (job: Job): Job => ({ ...job, spec: askedOf(job) })

const told = (finding: Finding) => ({
  rule: finding.rule.id,
  decision: finding.rule.decision,
  applies: finding.applies === 'unknown' ? `cannot be told: ${finding.why}` : finding.applies ? 'yes' : 'no',
  when: finding.rule.when?.text,
})

interface SimulateOptions {
  readonly last: string
  readonly against?: string
}

interface Change {
  readonly job: string
  readonly topic: string
  readonly was: string
  readonly now: string
  readonly rule: string
  readonly differs: readonly Difference[]
}

const PAGE = 500
const SHOWN = 50

async function simulated(session: Session, folder: string, { last, against }: SimulateOptions): Promise<void> {
  const { terminal } = session
  const most = countOf('--last', last, { min: 1, max: 1_000_000 })
  const snapshot = await loaded(session, folder)
  const other = against === undefined ? undefined : await loaded(session, against)
  await withExisting(session, async (pawl) => {
    const changes: Change[] = []
    const counts: Record<string, number> = {}
    let seen = 0
    const look = (job: Job) => {
      const asked = asAsked(job)
      const judgement = snapshot.judge(asked)
      const { decision, rule } = judgement
      counts[decision] = (counts[decision] ?? 0) + 1
      const both =
        other === undefined
          ? besideRecord(job, asked, judgement)
          : { was: outcomeOf(other.judge(asked)), now: outcomeOf(judgement) }
      const differs = both === undefined ? [] : differences(both.was, both.now)
      if (both === undefined || differs.length === 0) return
      const { was, now } = both
      changes.push({
        job: job.id,
        topic: topicOf(asked.spec),
        was: was['decision'] ?? '',
        now: now['decision'] ?? '',
        rule,
        differs,
      })
    }
    for (let after: string | undefined; seen < most; ) {
      const page = await pawl.find({ order: 'newest', limit: Math.min(PAGE, most - seen), cursor: after })
      for (const job of page.jobs) look(job)
      seen += page.jobs.length
      terminal.progress('jobs', seen, most)
      after = page.cursor
      if (after === undefined) break
    }
    terminal.progressDone()
    terminal.tell({ policyHash: snapshot.hash, jobs: seen, decisions: counts, changes }, () => {
      const told = Object.entries(counts).map(([decision, count]) => `${count} ${decision}`)
      terminal.say(
        `${seen} jobs: ${told.length === 0 ? 'none to look at' : told.join(', ')}. ${changes.length} would change.`,
      )
      if (changes.length === 0) return
      terminal.table(
        ['JOB', 'TOPIC', 'WAS', 'WOULD BE', 'RULE', 'DIFFERS'],
        changes
          .slice(0, SHOWN)
          .map(({ job, topic, was, now, rule, differs }) => [job, topic, was, now, rule, differenceText(differs)]),
        { yields: 'DIFFERS' },
      )
      if (changes.length > SHOWN)
        terminal.say(terminal.paint.dim(`… and ${changes.length - SHOWN} more: --json has all.`))
    })
  })
}

/** Of the decision there are columns. */
const differenceText = (differs: readonly Difference[]): string =>
  differs
    .filter(({ what }) => what !== 'decision')
    .map(({ what, was = 'none', now = 'none' }) => `${what}: ${was} → ${now}`)
    .join('; ')
