/** Document 004, crawl and ingestion: every rule but Redis, by its line. */
import { describe } from 'vitest'
import { cancellation } from './004/cancellation.ts'
import { failures } from './004/failures.ts'
import { flow, flowInVirtualTime } from './004/flow.ts'
import { heartbeats, heartbeatsInVirtualTime } from './004/heartbeats.ts'
import { idempotency, idempotencyInVirtualTime } from './004/idempotency.ts'
import { observability } from './004/observability.ts'
import { persistence, persistenceInVirtualTime } from './004/persistence.ts'
import { retries, retriesInVirtualTime } from './004/retries.ts'
import { statesAndEvents } from './004/states-and-events.ts'
import { wallClock, wallClockInVirtualTime } from './004/wall-clock.ts'
import { onStores } from './stage.ts'

onStores('004', {}, (stage) => {
  describe('states and events', () => statesAndEvents(stage))
  describe('idempotency', () => idempotency(stage))
  describe('retries and backoff', () => retries(stage))
  describe('flow', () => flow(stage))
  describe('cancellation', () => cancellation(stage))
  describe('counters and failures', () => failures(stage))
  describe('heartbeats', () => heartbeats(stage))
  describe('wall clock', () => wallClock(stage))
  describe('persistence and materialization', () => persistence(stage))
  describe('observability', () => observability(stage))
})

describe('004 in memory and virtual time: what takes too long to wait for', () => {
  describe('idempotency', idempotencyInVirtualTime)
  describe('retries and backoff', retriesInVirtualTime)
  describe('flow', flowInVirtualTime)
  describe('heartbeats', heartbeatsInVirtualTime)
  describe('wall clock', wallClockInVirtualTime)
  describe('persistence', persistenceInVirtualTime)
})
