/**
 * What judging a job by a policy costs the scheduler: `node bench/judging.ts [jobs]`. Rules are spread over topics and tenants as
 * policies are: a few for everybody, most of them for one topic of one tenant, each with a condition. Promised are 10 µs of CPU for
 * each job at 100 rules, and 1 ms at 10,000.
 */
import { cpuUsage } from 'node:process'
import type { Described } from '../src/policy/facts.ts'
import { compile } from '../src/policy/policy.ts'
import type { Snapshot } from '../src/policy/snapshot.ts'

const TENANTS = 20
const JOBS = Number(process.argv[2] ?? 100_000)
const ROUNDS = 5

const CONDITIONS = [
  'has(job.env.sandbox) && job.env.sandbox == "true"',
  'job.priority < 5 && job.type == "job"',
  'job.labels.exists(name, name == "team")',
  'job.inputSize < 1000000 || job.adapterId.startsWith("gpt")',
]

function policyOf(count: number): Snapshot {
  const rules = Array.from({ length: count }, (_, i) => ({
    id: `rule-${i}`,
    ...(i % 50 !== 0 && { tenants: [`tenant-${i % TENANTS}`], topics: [`job.${Math.floor(i / TENANTS)}.*`] }),
    when: CONDITIONS[i % CONDITIONS.length],
    decision: i % 10 === 3 ? 'constrain' : 'allow',
    ...(i % 10 === 3 && { constrain: { attempts: 3 } }),
  }))
  const compiled = compile([{ name: 'policy.json', text: JSON.stringify({ rules }) }])
  if ('faults' in compiled) throw new Error(JSON.stringify(compiled.faults))
  return compiled.snapshot
}

const jobs = (topics: number): readonly Described[] =>
  Array.from({ length: 1_000 }, (_, i) => ({
    id: `pj_${i}`,
    priority: i % 10,
    generation: 0,
    spec: {
      kind: { tenant: `tenant-${i % TENANTS}`, queue: 'q', type: 'job', policy: { dialect: undefined } },
      topic: `job.${i % topics}.run`,
      input: { size: i },
      env: { sandbox: i % 2 === 0 ? 'true' : 'false', locale: 'en' },
      labels: { team: 'red' },
      adapterId: 'gpt-5',
      contextPtr: undefined,
      parentId: undefined,
      workflowId: undefined,
      stepIndex: undefined,
    },
  }))

for (const rules of [100, 10_000]) {
  const policy = policyOf(rules)
  const some = jobs(Math.max(1, Math.floor(rules / TENANTS)))
  const concerned = some.reduce((sum, job) => sum + policy.findings(job).length, 0) / some.length
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = cpuUsage()
    for (let i = 0; i < JOBS; i += 1) policy.judge(some[i % some.length] as Described)
    const { user, system } = cpuUsage(before)
    return (user + system) / JOBS
  }).sort((a, b) => a - b)
  const median = rounds[Math.floor(ROUNDS / 2)] as number
  console.log(`${rules} rules, ${concerned.toFixed(1)} concern a job: ${median.toFixed(2)} µs of CPU each`)
}
