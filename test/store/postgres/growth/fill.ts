/**
 * A store that holds `count` of everything, written by a statement per table: what the rows say is of no consequence, but how
 * many there are, and how many share a word. They satisfy the schema's own constraints, and stand where jobs of their kind
 * stand.
 *
 * Whatever a case asks for is among the first thousand, so that a store can be measured, filled up and measured again.
 */
import type pg from 'pg'
import { gateOf } from '../../../../src/core/flow/gate.ts'
import { atRest } from '../../../../src/core/flow/key.ts'
import { RANK } from '../../../../src/core/job.ts'
import { STATE_CODES } from '../../../../src/store/codec/codes.ts'
import { LET_IN } from '../../../../src/store/postgres/names/let-in-lane.ts'
import { packed } from '../../../../src/store/postgres/names/step.ts'

/** When what is stored began, a millisecond after the other; and what is not due for as long as tests run. */
export const BEGIN = 1_700_000_000_000
export const FAR = 4_000_000_000_000

/** Of the n-th job of its kind: the number it has where it stands there. Eight to the n, so that numbers rise with time. */
export const job = {
  ready: (n: number) => 8 * n,
  leased: (n: number) => 8 * n + 1,
  resting: (n: number) => 8 * n + 2,
  ended: (n: number) => 8 * n + 3,
  /** Of the n-th flow, with the n-th key, both of its queue: held; and let in. */
  held: (n: number) => 8 * n + 6,
  standing: (n: number) => 8 * n + 7,
  /** The first 320 only: in bundles of sixteen. */
  bundled: (n: number) => 8 * n + 4,
  /** One, with a commit and a body for each of many steps. */
  long: 7,
} as const

/** The side of the n-th queue. */
export const SIDES = 100_000_000
export const BUNDLE = 1_000_000_000
const BUNDLES = 20
const BUNDLE_SIZE = 16
/** Claimable: the first so many, in the lane of the queue of this number. */
export const CLAIMABLE = { queue: 2, lane: 25, jobs: 200 } as const
/** On which somebody listens: whoever holds its lock. */
export const LISTENER = 'listener'
/** The key at which most flows wait. */
export const FULL = 3
/** Due: the first so many of each place. */
export const DUE = 5

const step = {
  enqueued: packed(0, 0, RANK.queued),
  retrying: packed(0, 1, RANK.retrying),
  claimed: packed(0, 1, RANK.claimed),
  running: packed(0, 1, RANK.running),
  waiting: packed(0, 1, RANK.waiting),
  ended: packed(0, 1, RANK.succeeded),
}
/** As much of a record as indexes know. */
const doc = (state: keyof typeof STATE_CODES) => `'{"s":"${STATE_CODES[state]}","u":1}'`

export async function fill(client: pg.Client, from: number, to: number): Promise<void> {
  // References are right, and need not be looked up one by one.
  const settings = { synchronous_commit: 'off', session_replication_role: 'replica' }
  for (const [name, value] of Object.entries(settings)) await client.query(`set ${name} = ${value}`)
  for (const text of statements(from, to)) await client.query(text)
  for (const name of Object.keys(settings)) await client.query(`reset ${name}`)
}

function statements(from: number, to: number): readonly string[] {
  const all = `generate_series(${from + 1}, ${to}) as n`
  const isFirst = from === 0
  /** The second one for what cases ask for, and for nobody else: that there are many, the first one sees to. */
  const also = (first: string, second: string) => `array[${first}${isFirst ? `, ${second}` : ''}]`
  const born = 'id, created_at, kind, lane, sum, input, correlation, marks'
  const input = `pawl.sum_of('{}'), '{}'`
  return [
    `delete from pawl.parked p where p.channel = '${LISTENER}'`,
    `insert into pawl.queue (id, hash, tenant, name, limited) overriding system value select n, 'q' || n, 't' || n / 10, 'q' || n, n % 2 = 0 from ${all}`,
    `insert into pawl.queue (id, hash, tenant, name, main, needs, limited) overriding system value
     select ${SIDES} + n, 's' || n, 't' || n / 10, 'q' || n, n, 'gpu', n % 2 = 0 from ${all}`,
    `insert into pawl.kind (id, hash, queue, type, window_ms, policy) overriding system value
     select n, 'k' || n, n, 'type', 30000, '{}' from ${all}`,
    `insert into pawl.job (${born})
     select 8 * n + s, ${BEGIN} + n, n, 10 * n + 5, ${input}, case when s = 3 then 'shared' else 'c' || n / 10 end,
       case when s = 3 then array['shared', 'm' || n / 10] end
     from ${all} cross join generate_series(0, 3) as s order by n, s`,
    `insert into pawl.mark (mark, job) select m, 8 * n + 3 from ${all} cross join unnest(${also("'shared'", "'m' || n / 10")}) as m`,
    // Half of what is not claimable yet is at the far end of one lane, half of it in a lane for each.
    `insert into pawl.ready (id, ready_at, lane, window_ms, kind, bytes, rev, step, tick, doc)
     select 8 * n, case when n <= ${CLAIMABLE.jobs} then ${BEGIN} + n else ${FAR} + n end,
       case when n <= ${CLAIMABLE.jobs} or n % 2 = 0 then ${CLAIMABLE.lane} else 10 * n + 5 end, 30000, n, 2,
       case when n % 2 = 0 then 5 end, case when n % 2 = 0 then ${step.retrying} end,
       case when n > ${CLAIMABLE.jobs} and n <= ${CLAIMABLE.jobs + DUE} then ${BEGIN} when n > ${CLAIMABLE.jobs} then ${FAR} + n end,
       case when n % 2 = 0 then ${doc('retrying')} end from ${all}`,
    ...flowing(all),
    `insert into pawl.claim (id, request, worker, actor, nonce, at, tick, refs, jobs) overriding system value
     select n, 'r' || n, 'w', 'a', '00000000000000aa', ${BEGIN} + n, case when n <= ${DUE} then ${BEGIN} else ${FAR} + n end, 2,
       array[8 * n + 1] from ${all}`,
    `insert into pawl.lease (id, claim, expires_at, rev, step, doc)
     select 8 * n + 1, case when n % 2 = 0 then -n else n end, case when n <= ${DUE} then ${BEGIN} else ${FAR} end, 2,
       case when n % 2 = 0 then ${step.running} else ${step.claimed} end, case when n % 2 = 0 then ${doc('running')} end from ${all}`,
    `insert into pawl.rest (id, rev, step, tick, judge, doc)
     select 8 * n + 2, case when n % 2 = 0 then 4 end, case when n % 2 = 0 then ${step.waiting} end,
       case when n <= ${DUE} then ${BEGIN} else ${FAR} + n end, case when n <= ${DUE} then ${BEGIN} else ${FAR} + n end,
       case when n % 2 = 0 then ${doc('waiting')} end from ${all}`,
    // Half of them odd, half of those with a long log.
    `insert into pawl.past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output)
     select 8 * n + 3, ${BEGIN} + n, n, ${step.enqueued}, ${step.ended}, case when n % 4 = 1 then 25 else 4 end, 1,
       case when n % 2 = 0 then '${STATE_CODES.succeeded}' else '${STATE_CODES.failed}' end::"char", n % 2 = 0, '[0,[]]', '{}' from ${all}`,
    `insert into pawl.past (job, at, from_step, to_step, rev, from_rev, plain, events)
     select ${job.long}, ${BEGIN} + n, ${step.running}, ${step.running}, n + 2, n + 1, false, '[0,[]]' from ${all}`,
    `insert into pawl.asked (job, request, from_rev) select ${job.long}, n, n + 1 from ${all}`,
    `insert into pawl.body (job, key, text) select 8 * n + 2, b, '{}' from ${all} cross join unnest(${also("'step/1'", "'checkpoint'")}) as b`,
    `insert into pawl.body (job, key, text) select ${job.long}, 'step/' || n, '{}' from ${all}`,
    `insert into pawl.key (tenant, purpose, key, job, until) select 't', 'dedupe', 'k' || n, 8 * n + 2, case when n % 2 = 0 then ${BEGIN} end from ${all}`,
    `insert into pawl.link (correlation, job, rev) select c, 8 * n + 3, 3 from ${all} cross join unnest(${also("'shared'", "'l' || n / 10")}) as c`,
    `insert into pawl.annotation (job, generation, attempt, command, at, actor, request, correlation)
     select 8 * n + 3, 0, 1, 'complete', ${BEGIN} + n, 'a', 'r', 'c' from ${all}`,
    `insert into pawl.setting (collection, key, text, rev, updated_at) select 'worker', 'w' || lpad(n::text, 8, '0'), '{}', 1, ${BEGIN} from ${all}`,
    `insert into pawl.tally (kind, state, count) select n, '${STATE_CODES.queued}', 1 from ${all}`,
    `insert into pawl.entry (id, pos, at, claim, jobs, revs, kinds, shapes) overriding system value
     select n, n, ${BEGIN} + n, case when n % 2 = 0 then n end, array[8 * n + 1], '{2}', array[n], '{qcc}' from ${all}`,
    `insert into pawl.parked (id, request, worker, actor, nonce, lanes, wanted, max_bytes, until, channel)
     select n, 'p' || n, 'w', 'a', '00000000000000aa', array[10 * n + 5], 1, 1000, ${FAR}, 'nobody' from ${all}`,
    ...(isFirst
      ? [
          `select setval('pawl.entry_id_seq', ${BUNDLE})`,
          // Not placed yet: a handful, whatever else there is.
          `insert into pawl.entry (at, jobs, revs, kinds, shapes)
           select ${FAR}, array[8 * n + 1], '{2}', array[n], '{qcc}' from generate_series(1, ${DUE}) as n`,
          `insert into pawl.job (${born}) values (${job.long}, ${BEGIN}, 1, 15, ${input}, 'long', null)`,
          `insert into pawl.lease (id, claim, expires_at, rev, step, doc)
           values (${job.long}, -1, ${FAR}, 1000000, ${step.running}, ${doc('running')})`,
          `insert into pawl.job (${born}) select 8 * n + 4, ${BEGIN} + n, 3, 35, ${input}, null, null
           from generate_series(1, ${BUNDLES * BUNDLE_SIZE}) as n`,
          `insert into pawl.claim (id, request, worker, actor, nonce, at, tick, refs, jobs, low, high, open) overriding system value
           select ${BUNDLE} + b, 'bundle' || b, 'w', 'a', '00000000000000aa', ${FAR}, ${FAR}, ${BUNDLE_SIZE}, jobs, jobs[1], jobs[${BUNDLE_SIZE}], ${BUNDLE_SIZE}
           from generate_series(1, ${BUNDLES}) as b cross join lateral (
             select array_agg(8 * n + 4 order by n) as jobs from generate_series((b - 1) * ${BUNDLE_SIZE} + 1, b * ${BUNDLE_SIZE}) as n) as j`,
        ]
      : []),
    `update pawl.feed set pos = ${to}`,
    `select setval('pawl.queue_id_seq', ${to}), setval('pawl.kind_id_seq', ${to}), setval('pawl.claim_id_seq', ${2 * BUNDLE}),
       setval('pawl.parked_number', ${to + 1}), setval('pawl.flow_key_id_seq', ${to}), setval('pawl.flow_id_seq', ${to}),
       setval('pawl.arrival_id_seq', ${to}), setval('pawl.spend_id_seq', ${to})`,
    // The last one is listened for, in the lane that has something.
    `insert into pawl.parked (id, request, worker, actor, nonce, lanes, wanted, max_bytes, until, channel)
     values (${to + 1}, 'waits', 'w', 'a', '00000000000000aa', array[${CLAIMABLE.lane}], 1, 1000, ${FAR}, '${LISTENER}')`,
  ]
}

/**
 * A key, and a flow under it, for each queue. One job of each is held, one stands, one is owned; a few have waited for too long. Half of all flows
 * wait at one key, a quarter in one lane; of one flow everything is held that is not claimable.
 */
function flowing(all: string): readonly string[] {
  const gate = JSON.stringify(gateOf(atRest(''), { concurrency: 1 }))
  return [
    `insert into pawl.flow_key (id, tenant, key, gate, since, rate_ms, per_ms, weight, text, rev, wake_at) overriding system value
     select n, 't', 'k' || lpad(n::text, 8, '0'), '${gate}', 0, 1000, 1000, 1, 'said', 1, case when n <= ${DUE} then ${BEGIN} else ${FAR} end from ${all}`,
    `insert into pawl.flow (id, hash, lane, priority, keys, tenant, weigher, pass, waits_at, next_at) overriding system value
     select n, 'f' || n, 10 * n + 5, 5, array[n], 't', 'k' || lpad(n::text, 8, '0'), n,
       case n % 4 when 0 then 'key ${FULL}' when 1 then 'key ${FULL}' when 2 then 'lane ${CLAIMABLE.lane}' end, case when n <= ${DUE} then ${BEGIN} else ${FAR} end from ${all}`,
    `insert into pawl.job (id, created_at, kind, lane, sum, input)
     select 8 * n + s, ${BEGIN} + n, n, 10 * n + 5, pawl.sum_of('{}'), '{}' from ${all} cross join generate_series(6, 7) as s`,
    `insert into pawl.ready (id, ready_at, lane, window_ms, kind, bytes)
     select 8 * n + 6, ${BEGIN} + n, -n, 30000, n, 2 from ${all} union all
     select 8 * n + 7, ${BEGIN} + n, 10 * n + 5 + ${LET_IN}, 30000, n, 2 from ${all}`,
    `insert into pawl.slot (key, job, flow, let_in, claimed)
     select n, 8 * n + 7, n, case when n <= ${DUE} then ${BEGIN} else ${FAR} end, null::bigint from ${all} union all
     select n, 8 * n + 1, n, ${BEGIN}, ${BEGIN} from ${all}`,
    `insert into pawl.pace (key, claimed) select n, ${FAR} from ${all}`,
    `insert into pawl.spend (id, key, at, amount) overriding system value select n, n, ${FAR}, 1 from ${all}`,
    `insert into pawl.arrival (id, key, flow, queue) overriding system value
     select n, case n % 6 when 0 then n when 3 then -n end, case n % 3 when 1 then n end, case n % 3 when 2 then n end from ${all}`,
    `insert into pawl.hunger (place, priority, since) select 'key ' || n, 5, ${BEGIN} from ${all}`,
  ]
}
