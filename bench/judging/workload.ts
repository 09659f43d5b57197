/**
 * Jobs and policies as a scheduler meets them: files for everybody, most rules of them for one topic of one tenant, each with a condition; what the
 * tenant has set for itself besides; some jobs sent on to another topic, some to be approved, all routed. What is done for each is what the
 * scheduler does: rules and routes, what they come to in core's words, and what is said to the job.
 */
import { addressed, sentenceOf } from '../../src/core/admission.ts'
import type { Enqueue } from '../../src/core/command.ts'
import { decide } from '../../src/core/decide.ts'
import { idText } from '../../src/core/id.ts'
import type { Job, Kind } from '../../src/core/job.ts'
import { jobHashOf } from '../../src/core/job-hash.ts'
import { resolvePolicy } from '../../src/core/resolve.ts'
import { judgedBy } from '../../src/policy/judge.ts'
import { Layered } from '../../src/policy/layered.ts'
import { routeSchema } from '../../src/policy/route.ts'
import { ruleSchema } from '../../src/policy/rule.ts'
import { Snapshot } from '../../src/policy/snapshot.ts'

const TENANTS = 20
const JOBS = 1_000

const CONDITIONS = [
  'has(job.env.sandbox) && job.env.sandbox == "true"',
  'job.priority < 5 && job.type == "job"',
  'job.labels.exists(name, name == "team")',
  'job.inputSize < 1000000 || job.adapterId.startsWith("gpt")',
]

export interface Workload {
  readonly jobs: readonly Job[]
  /** What a scheduler does for one of them. */
  judge(job: Job): void
  /** How many rules concern it, wherever it is sent. */
  concerning(job: Job): number
}

/** `looked`: told of each rule and route whose condition is looked at. */
export function workload(count: number, looked?: (rule: object) => void): Workload {
  const topics = Math.max(1, Math.floor(count / TENANTS))
  const files = watched(snapshotOf(filesOf(count)), looked)
  const policies = new Map(
    Array.from({ length: TENANTS }, (_, i) => [
      `tenant-${i}`,
      new Layered(files, watched(snapshotOf(ownOf(i)), looked)),
    ]),
  )
  const policyOf = ({ spec }: Job) => policies.get(spec.kind.tenant) as Layered
  return {
    jobs: jobsOf(topics),
    judge(job) {
      const judgement = policyOf(job).judge(job)
      const word = addressed(judgedBy(judgement), job, undefined)
      // A hash is made of what somebody is asked about; a kernel, for which one is made of each job, costs a question over HTTP.
      if (sentenceOf(job, word, job.updatedAt, 'producer:ann').type === 'askApproval') jobHashOf(job)
    },
    concerning(job) {
      const policy = policyOf(job)
      const sent = policy.judge(job).redirects.map(({ to }) => to)
      return [undefined, ...sent].reduce((sum, to) => sum + policy.findings(job, to).length, 0)
    },
  }
}

function watched(snapshot: Snapshot, looked: ((rule: object) => void) | undefined): Snapshot {
  if (looked === undefined) return snapshot
  const told = <Entry extends object>(entry: Entry): Entry =>
    new Proxy(entry, {
      get(target, name, receiver) {
        if (name === 'when') looked(target)
        return Reflect.get(target, name, receiver)
      },
    })
  return new Snapshot(snapshot.rules.map(told), snapshot.routes.map(told))
}

/** Not read from a text: that of 10,000 rules takes seconds. */
const snapshotOf = ({ rules, routes = [] }: Written): Snapshot =>
  new Snapshot(
    rules.map((rule) => ruleSchema.parse(rule)),
    routes.map((route) => routeSchema.parse(route)),
  )

interface Written {
  readonly rules: readonly object[]
  readonly routes?: readonly object[]
}

function filesOf(count: number): Written {
  const rules = Array.from({ length: count }, (_, i) => ({
    id: `rule-${i}`,
    ...(i % 50 !== 0 && { tenants: [`tenant-${i % TENANTS}`], topics: [`job.${Math.floor(i / TENANTS)}.*`] }),
    when: CONDITIONS[i % CONDITIONS.length],
    ...saidBy(i),
  }))
  const routes = [
    { id: 'gpu', when: 'has(job.labels.gpu)', pool: 'gpu' },
    { id: 'rest', topics: ['>'] },
  ]
  return { rules, routes }
}

function saidBy(i: number): object {
  if (i % 10 === 3) return { decision: 'constrain', constrain: { attempts: 3 } }
  if (i % 20 === 7) return { decision: 'redirect', topic: 'job.0.cheap' }
  return i % 20 === 9 ? { decision: 'require_approval', fourEyes: true } : { decision: 'allow' }
}

/** What a tenant sets for itself. */
const ownOf = (i: number): Written => ({
  rules: [
    { id: 'short', topics: ['job.>'], decision: 'constrain', constrain: { timeout: '1m', labels: { tenant: `${i}` } } },
    { id: 'slow', when: 'job.priority == 9', decision: 'throttle', key: 'slow', limit: { concurrency: 2 } },
  ],
})

function jobsOf(topics: number): readonly Job[] {
  const resolved = resolvePolicy({ admission: true })
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.violations))
  return Array.from({ length: JOBS }, (_, i) => {
    const kind: Kind = { tenant: `tenant-${i % TENANTS}`, queue: 'q', type: 'job', policy: resolved.policy }
    const enqueue: Enqueue = {
      type: 'enqueue',
      id: idText(i + 1),
      actor: 'producer:ann',
      requestId: `r${i}`,
      kind,
      priority: (i % 10) as Enqueue['priority'],
      topic: `job.${i % topics}.run`,
      input: { name: 'input', size: i, digest: undefined },
      env: { sandbox: i % 2 === 0 ? 'true' : 'false', locale: 'en' },
      labels: { team: 'red' },
      adapterId: 'gpt-5',
    }
    const decision = decide(undefined, enqueue, 1_000_000)
    if (decision.kind !== 'accepted') throw new Error(JSON.stringify(decision))
    return decision.job
  })
}
