/** Everything that is measured, in the order in which it is. */
import type { Scenario } from './scenario.ts'
import { besideDelayed, besideFinished, besideParked, besideQueued } from './scenarios/beside.ts'
import { bulkEnqueue } from './scenarios/bulk-enqueue.ts'
import { bus, busLatency } from './scenarios/bus.ts'
import { dayAtOnce, daySpread } from './scenarios/day.ts'
import { drain1, drain2 } from './scenarios/drain.ts'
import { embedded } from './scenarios/embedded.ts'
import { heartbeats } from './scenarios/heartbeats.ts'
import { heldSnapshot } from './scenarios/held-snapshot.ts'
import { http } from './scenarios/http.ts'
import { idle } from './scenarios/idle.ts'
import { keyedBulk } from './scenarios/keyed-bulk.ts'
import { latency } from './scenarios/latency.ts'
import { latencyBeside500, latencyBesideHalf } from './scenarios/latency-beside.ts'
import { left } from './scenarios/left.ts'
import { limited, limitedFull } from './scenarios/limited.ts'
import { longJob } from './scenarios/long-job.ts'
import { manyQueues } from './scenarios/many-queues.ts'
import { payload1m, payload8k } from './scenarios/payload.ts'
import { pgbouncer } from './scenarios/pgbouncer.ts'
import { retries } from './scenarios/retries.ts'
import { signals, signalsParked } from './scenarios/signals.ts'
import { singleEnqueue1, singleEnqueue64 } from './scenarios/single-enqueue.ts'
import { steps } from './scenarios/steps.ts'
import { together } from './scenarios/together.ts'

export const SCENARIOS: readonly Scenario[] = [
  bulkEnqueue,
  keyedBulk,
  singleEnqueue1,
  singleEnqueue64,
  drain1,
  drain2,
  together,
  steps,
  longJob,
  retries,
  signals,
  payload8k,
  payload1m,
  manyQueues,
  limited,
  limitedFull,
  latency,
  latencyBesideHalf,
  latencyBeside500,
  heldSnapshot,
  pgbouncer,
  http,
  bus,
  busLatency,
  embedded,
  heartbeats,
  idle,
  daySpread,
  dayAtOnce,
  left,
  besideFinished,
  besideDelayed,
  besideParked,
  signalsParked,
  besideQueued,
]
