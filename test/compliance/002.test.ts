/** Document 002, gateway, scheduler, safety kernel: what of it a job engine can keep, by its line. */
import { describe } from 'vitest'
import { idempotency } from './002/idempotency.ts'
import { jobRequest } from './002/job-request.ts'
import { jobResult } from './002/job-result.ts'
import { performers } from './002/performers.ts'
import { retries } from './002/retries.ts'
import { stateMachine } from './002/state-machine.ts'
import { onStores } from './stage.ts'

onStores('002', {}, (stage) => {
  describe('JobRequest', () => jobRequest(stage))
  describe('JobResult', () => jobResult(stage))
  describe('state machine', () => stateMachine(stage))
  describe('who performs transitions', () => performers(stage))
  describe('idempotency', () => idempotency(stage))
  describe('retries', () => retries(stage))
})
