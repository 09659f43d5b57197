/** Document 000, part A, "Distributed Reliability": every statement, by its line. */
import { describe } from 'vitest'
import { cancellation } from './000a/cancellation.ts'
import { checklist } from './000a/checklist.ts'
import { concurrency } from './000a/concurrency.ts'
import { deadLetters } from './000a/dead-letters.ts'
import { events, eventsInVirtualTime } from './000a/events.ts'
import { invariants } from './000a/invariants.ts'
import { leases, leasesInVirtualTime } from './000a/leases.ts'
import { observability } from './000a/observability.ts'
import { retries } from './000a/retries.ts'
import { states } from './000a/states.ts'
import { transitions } from './000a/transitions.ts'
import { onStores } from './stage.ts'

onStores('000 part A', {}, (stage) => {
  describe('states', () => states(stage))
  describe('allowed transitions', () => transitions(stage))
  describe('invariants', () => invariants(stage))
  describe('leases and heartbeats', () => leases(stage))
  describe('retries', () => retries(stage))
  describe('cancellation', () => cancellation(stage))
  describe('dead letters', () => deadLetters(stage))
  describe('events', () => events(stage))
  describe('concurrency', () => concurrency(stage))
  describe('observability', () => observability(stage))
  describe('compliance checklist', () => checklist(stage))
})

describe('000 part A in memory and virtual time: what takes too long to wait for', () => {
  describe('leases and heartbeats', leasesInVirtualTime)
  describe('events', eventsInVirtualTime)
})
