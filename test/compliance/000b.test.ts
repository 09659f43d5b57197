/** Document 000, part B, the minimal lifecycle: every statement, by its line. */
import { describe } from 'vitest'
import { errors } from './000b/errors.ts'
import { invariants } from './000b/invariants.ts'
import { leases, leasesInVirtualTime } from './000b/leases.ts'
import { observability } from './000b/observability.ts'
import { retries } from './000b/retries.ts'
import { states } from './000b/states.ts'
import { transitions } from './000b/transitions.ts'
import { onStores } from './stage.ts'

onStores('000 part B', {}, (stage) => {
  describe('states', () => states(stage))
  describe('transitions', () => transitions(stage))
  describe('invariants', () => invariants(stage))
  describe('leases', () => leases(stage))
  describe('retries and dead letters', () => retries(stage))
  describe('observability', () => observability(stage))
  describe('errors and versions', () => errors(stage))
})

describe('000 part B in memory and virtual time: what takes too long to wait for', () => {
  describe('leases', leasesInVirtualTime)
})
