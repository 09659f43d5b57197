import { code, page, table } from './markdown.ts'
import { type OptionInterface, optionInterfaces } from './option-interfaces.ts'

export const MODULES = [
  'src/index.ts',
  'src/engine.ts',
  'src/contract.ts',
  'src/testing/testing.ts',
  'src/gateway.ts',
  'src/gateway/prometheus.ts',
] as const

/** By what one does with them. Whatever is exported and not here is an error: nobody would find it. */
const SECTIONS: readonly (readonly [title: string, text: string, interfaces: readonly string[]])[] = [
  [
    'open',
    '`open(url, options)`: where jobs are, whose they are, and who hears of them. `openOn(store, options)` of `pawl/engine` for a store of your own.',
    ['OpenOptions', 'OpenOnOptions', 'Hooks', 'TickerOptions', 'RetentionOptions'],
  ],
  [
    'defineJob',
    '`defineJob(options)`; `defineSpec(options)` without a handler, and `implementJob(spec, run, options)` with it. All but names, schemas, `dedupe`, `run` and where it runs is the policy: born with each job, and immutable afterwards.',
    [
      'DefineOptions',
      'SpecOptions',
      'DedupeOptions',
      'DuplicatesInput',
      'FlowOptions',
      'LimitOptions',
      'LimitInput',
      'HandlerOptions',
      'PolicyInput',
      'RetryInput',
      'CurveInput',
    ],
  ],
  [
    'enqueue',
    '`pawl.enqueue(job, input, options)`, `pawl.enqueueMany(job, inputs, options)`, `pawl.enqueueEach(job, inputs, options)`, `ctx.spawn(job, input, options)`. Three names are easily taken for each other: `requestId` is this call, `idempotencyKey` this creation, `dedupeKey` this piece of business.',
    ['EnqueueOptions', 'EnqueueManyOptions', 'SpawnOptions'],
  ],
  [
    'schedule',
    '`pawl.schedule(name, options, job, input)`, `pawl.schedules.add(name, options, job, input)`: [schedules.md](schedules.md).',
    ['ScheduleOptions', 'ReconcileOptions'],
  ],
  ['policies', '`pawl.policies.set(name, text, options)`, `rm`: [policy.md](policy.md).', ['SetPolicyOptions']],
  [
    'limits',
    '`pawl.limits.list(options)`, `pawl.limits.set(key, limit)`: [flow.md](flow.md).',
    ['ListLimitsOptions', 'RepairOptions'],
  ],
  [
    'operations',
    '`pawl.operations.start(options)`, `list(options)`: [operations.md](operations.md).',
    ['OperationOptions', 'OperationInput', 'OperationListOptions'],
  ],
  ['work', '`pawl.work(jobs, options)`, `worker.stop(options)`.', ['WorkerOptions', 'StopOptions']],
  [
    'every call',
    'Every call takes a `timeout` and a `signal`; reads take a `tenant` besides, commands who asks and under which request.',
    [
      'CallOptions',
      'ReadOptions',
      'Asked',
      'AdmitOptions',
      'DenyOptions',
      'ApproveOptions',
      'CancelOptions',
      'SignalOptions',
      'RescheduleOptions',
      'ReopenOptions',
      'RedriveOptions',
    ],
  ],
  [
    'in a handler',
    '`ctx.step(name, work, options)`, `ctx.waitFor(name, options)`, `ctx.progress(…)`, and what an error may say.',
    ['StepOptions', 'WaitOptions', 'ProgressInput', 'ThrownOptions'],
  ],
  ['pawl.contract', 'The operations of document 001.', ['Operation', 'OwnerOperation']],
  ['pawl/testing', '`openTesting(jobs, options)`.', ['TestingOptions']],
  ['pawl/gateway', '`gateway(pawl, options)`: [embedding.md](embedding.md).', ['MountOptions']],
  ['pawl/prometheus', '`prometheus(options)`: [metrics.md](metrics.md).', ['PrometheusOptions']],
]

export function optionsPage(): string {
  const all = new Map(optionInterfaces(...MODULES).map((each) => [each.name, each]))
  const placed = SECTIONS.flatMap(([, , names]) => names)
  const lost = [...all.keys()].filter((name) => !placed.includes(name))
  if (lost.length > 0) throw new Error(`options without a section: ${lost.join(', ')}`)
  return page(
    'Options',
    'the doc comments of src/',
    'Everything that can be said to the library besides a job type and an input, with what holds where nothing is said. A duration is milliseconds or text like `250ms`, `30s`, `4m59s`, `2h`, `1d12h`; text that is known only when the program runs goes through `duration(text)`. A time is a `Date` or milliseconds since 1970.',
    ...SECTIONS.flatMap(([title, text, names]) => [
      `## ${title}`,
      text,
      ...names.flatMap((name) => sectionOf(all.get(name), name)),
    ]),
  )
}

function sectionOf(found: OptionInterface | undefined, name: string): readonly string[] {
  if (found === undefined) throw new Error(`there is no interface ${name}`)
  const { bases, members, meaning } = found
  const besides =
    bases.length === 0 ? '' : `Besides those of ${bases.map((base) => `[${base}](#${anchor(base)})`).join(' and ')}.`
  const said = [meaning, besides].filter((text) => text !== '').join(' ')
  const rows = members.map((member) => [
    code(member.name),
    code(member.type),
    member.default ?? 'required',
    member.meaning,
  ])
  return [`### ${name}`, ...(said === '' ? [] : [said]), table(['option', 'type', 'default', 'what'], rows)]
}

const anchor = (name: string): string => name.toLowerCase()
