/** Document 001, plan 02: the contract, operation by operation, and its validators; every statement, by its line. */
import { describe } from 'vitest'
import { attemptAndRev } from './001/attempt-and-rev.ts'
import { compareAndSwap } from './001/compare-and-swap.ts'
import { UNATTENDED } from './001/contract.ts'
import { events } from './001/events.ts'
import { mixedQueue, mixedQueueInVirtualTime } from './001/mixed-queue.ts'
import { otherTransitions } from './001/other-transitions.ts'
import { requestId } from './001/request-id.ts'
import { statuses } from './001/statuses.ts'
import { transitions } from './001/transitions.ts'
import { validators } from './001/validators.ts'
import { workers } from './001/workers.ts'
import { onStores } from './stage.ts'

onStores('001', UNATTENDED, (stage) => {
  describe('statuses', () => statuses(stage))
  describe('allowed transitions', () => transitions(stage))
  describe('no other transitions', () => otherTransitions(stage))
  describe('compare and swap', () => compareAndSwap(stage))
  describe('request_id', () => requestId(stage))
  describe('attempt and rev', () => attemptAndRev(stage))
  describe('events', () => events(stage))
  describe('workers', () => workers(stage))
  describe('mixed queues', () => mixedQueue(stage))
  describe('validators and other plans', () => validators(stage))
})

describe('001 in virtual time', () => {
  describe('mixed queues', mixedQueueInVirtualTime)
})
