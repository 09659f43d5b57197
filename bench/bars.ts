/** What pawl has to reach, and where it is going: ratios of one run, with its full event history. */
import { type ContenderName, PEERS, POSTGRES_PEERS } from './contenders.ts'
import type { Summary } from './summary.ts'

export interface Bar {
  readonly name: string
  readonly says: string
  /** undefined: what it needs was not measured. */
  readonly value: (summary: Summary) => number | undefined
  readonly limit: number
  readonly beyond?: number | undefined
  readonly better: 'more' | 'less'
}

export interface Verdict {
  readonly bar: Bar
  readonly value: number
  readonly met: boolean
  readonly beyond: boolean
}

export function verdicts(summary: Summary): readonly Verdict[] {
  return BARS.flatMap((bar) => {
    const value = bar.value(summary)
    if (value === undefined || !Number.isFinite(value)) return []
    const reaches = (limit: number) => (bar.better === 'more' ? value >= limit : value <= limit)
    return [{ bar, value, met: reaches(bar.limit), beyond: bar.beyond !== undefined && reaches(bar.beyond) }]
  })
}

/** pawl over the fastest of them. */
function ahead(scenario: string, peers: readonly ContenderName[], as: ContenderName = 'pawl', beside = scenario) {
  return (summary: Summary) => over(summary.median(scenario, as), summary.best(beside, peers)?.value)
}

function slower(figure: string, peers: readonly ContenderName[], scenario = 'latency', as: ContenderName = 'pawl') {
  return (summary: Summary) =>
    over(summary.median(scenario, as, figure), summary.best(scenario, peers, figure, 'less')?.value)
}

/** pawl in one scenario over pawl in another. */
function share(scenario: string, of: string) {
  return (summary: Summary) => over(summary.median(scenario, 'pawl'), summary.median(of, 'pawl'))
}

/** The price of a whole life, enqueue and drain, over Graphile's. */
function life(figure: string) {
  return (summary: Summary) => {
    const whole = (who: ContenderName) =>
      sum(summary.median('bulk-enqueue', who, figure), summary.median('drain-1', who, figure))
    return over(whole('pawl'), whole('graphile-worker'))
  }
}

/** What a figure of the plain case becomes. */
function changed(scenario: string, figure: string) {
  return (summary: Summary) => summary.overPlain(scenario, 'pawl', figure)
}

const over = (a: number | undefined, b: number | undefined) => (a === undefined || b === undefined ? undefined : a / b)
const sum = (a: number | undefined, b: number | undefined) => (a === undefined || b === undefined ? undefined : a + b)

const more = (name: string, says: string, value: Bar['value'], limit: number, beyond?: number): Bar => ({
  name,
  says,
  value,
  limit,
  beyond,
  better: 'more',
})
const less = (name: string, says: string, value: Bar['value'], limit: number, beyond?: number): Bar => ({
  ...more(name, says, value, limit, beyond),
  better: 'less',
})

const KINDS = ['finished', 'delayed', 'parked', 'queued'] as const
const POSTGRES = 'the fastest Postgres peer'
const BULLMQ = 'BullMQ'

const BARS: readonly Bar[] = [
  more('drain-1', `drain, 1 process × ${POSTGRES}`, ahead('drain-1', POSTGRES_PEERS), 1.4, 2),
  more('drain-2', `drain, 2 processes × ${POSTGRES}`, ahead('drain-2', POSTGRES_PEERS), 1.2, 1.5),
  more('together', `producer and worker together × ${POSTGRES}`, ahead('together', POSTGRES_PEERS), 1.4, 2),
  more('steps', 'durable steps × the fastest peer', ahead('steps', PEERS), 4, 8),
  more('retries', 'jobs that fail once × the fastest peer', ahead('retries', PEERS), 2, 4),
  more('signals', 'signals that resume, share of steps/s', share('signals', 'steps'), 0.5, 1),
  less(
    'signals-parked-cpu',
    'signals among many parked: server CPU × without',
    changed('signals-parked', 'serverUs'),
    1.1,
  ),
  more('payload-8k', `drain, 8 KB payloads × ${POSTGRES}`, ahead('payload-8k', POSTGRES_PEERS), 1.4, 2),
  more('http', 'worker over HTTP, share of in process', changed('http', 'perSecond'), 0.25, 0.5),
  less(
    'many-queues-cpu',
    '1,000 queues × 100 claimers: server CPU × one of each',
    changed('many-queues', 'serverUs'),
    1.2,
    1.05,
  ),
  more('limited', 'drain, 1,000 limit keys, share of without', changed('limited', 'perSecond'), 0.7, 0.9),
  more(
    'limited-full',
    'the same beside a key that is full, share of without',
    changed('limited-full', 'perSecond'),
    0.7,
    0.9,
  ),
  less('idle', 'statements/s of 100 idle workers', (all) => all.median('idle', 'pawl', 'statements'), 100, 20),
  more(
    'single-enqueue-64',
    `single enqueue, 64 in flight × ${POSTGRES}`,
    ahead('single-enqueue-64', POSTGRES_PEERS),
    4,
  ),
  more('single-enqueue-64-redis', 'the same × BullMQ on Redis', ahead('single-enqueue-64', ['bullmq-redis']), 0, 1),
  more('bulk-enqueue', 'bulk enqueue × the fastest peer', ahead('bulk-enqueue', PEERS), 1.5, 2),
  more('keyed-bulk', 'bulk enqueue with keys × the fastest peer', ahead('keyed-bulk', PEERS), 1.5, 2),
  less('latency-p50', 'latency p50 × the best Postgres peer', slower('p50', POSTGRES_PEERS), 1),
  less('latency-p95', 'latency p95 × the best Postgres peer', slower('p95', POSTGRES_PEERS), 1),
  less(
    'latency-beside-half-p99',
    'latency p99 beside steps at half of capacity × alone',
    changed('latency-beside-half', 'p99'),
    1.5,
  ),
  less(
    'latency-beside-500-p99',
    'latency p99 beside 500 steps/s × the best Postgres peer',
    slower('p99', POSTGRES_PEERS, 'latency-beside-500'),
    1,
  ),
  ...(['p50', 'p95'] as const).map((figure) =>
    less(
      `latency-${figure}-redis`,
      `latency ${figure} × BullMQ on Redis`,
      slower(figure, ['bullmq-redis']),
      Number.POSITIVE_INFINITY,
      1,
    ),
  ),
  less('wal', "WAL per job, whole life × Graphile's", life('walBytes'), 1, 0.9),
  less('server-cpu', "Postgres CPU per job, whole life × Graphile's", life('serverUs'), 1, 0.6),
  ...KINDS.flatMap((what) => [
    less(
      `beside-${what}-cpu`,
      `beside ${what}: server CPU × empty store`,
      changed(`beside-${what}`, 'serverUs'),
      1.1,
      1.03,
    ),
    less(
      `beside-${what}-pages`,
      `beside ${what}: pages per job × empty store`,
      changed(`beside-${what}`, 'pages'),
      1.1,
      1.03,
    ),
  ]),
  more('held-snapshot', 'drain under a held snapshot × without', changed('held-snapshot', 'perSecond'), 0.9),
  less('heartbeats', '10,000 running jobs, % of a core', (all) => all.median('heartbeats', 'pawl', 'coreShare'), 5),
  more('bare-sql', 'drain, share of bare SQL', ahead('drain-1', ['bare-sql']), 0.6, 0.8),
  more('redis-drain', `on Redis, drain × ${BULLMQ}`, ahead('drain-1', ['bullmq-redis'], 'pawl-redis'), 1.5, 2),
  more(
    'redis-together',
    `on Redis, producer and worker together × ${BULLMQ}`,
    ahead('together', ['bullmq-redis'], 'pawl-redis'),
    1.5,
    2,
  ),
  ...(['1', '64'] as const).map((inFlight) =>
    more(
      `redis-enqueue-${inFlight}`,
      `on Redis, single enqueue, ${inFlight} in flight × ${BULLMQ}`,
      ahead(`single-enqueue-${inFlight}`, ['bullmq-redis'], 'pawl-redis'),
      1,
    ),
  ),
  ...(['p50', 'p95'] as const).map((figure) =>
    less(
      `redis-latency-${figure}`,
      `on Redis, latency ${figure} × ${BULLMQ}`,
      slower(figure, ['bullmq-redis'], 'latency', 'pawl-redis'),
      1,
    ),
  ),
  more('embedded', `embedded drain × ${POSTGRES}`, ahead('embedded', POSTGRES_PEERS, 'pawl-sqlite', 'drain-1'), 1.3, 2),
]
