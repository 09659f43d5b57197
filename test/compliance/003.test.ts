/** Document 003, the formal machine: its states, its table cell by cell, its invariants and its derive, by their lines. */
import { describe } from 'vitest'
import { derive } from './003/derive.ts'
import { endings } from './003/endings.ts'
import { invariants } from './003/invariants.ts'
import { states } from './003/states.ts'
import { onStores } from './stage.ts'

describe('003 DeriveStatusFromEvents on any log', derive)

onStores('003', {}, (stage) => {
  describe('states and cells that live jobs reach', () => states(stage))
  describe('waits and endings', () => endings(stage))
  describe('invariants', () => invariants(stage))
})
