/** For every route with a body one that its schema accepts. */
import type { Route } from '../../src/gateway/contract/route.ts'

const fence = '0.1.0123456789abcdef'

const GOOD: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  createJob: { type: 'x', queue: 'hostile' },
  createJobs: { jobs: [{ type: 'x', queue: 'hostile' }] },
  claim: { workerId: 'w', queues: ['none'] },
  createToken: { name: 'n', scope: 'viewer' },
  settle: { transitions: [{ id: 'none', command: 'start', fence }] },
  checkpointJob: { fence, state: 1 },
  recordJob: { fence, artifact: { name: 'a', ptr: 'p' } },
  failJob: { fence, code: 'x' },
  waitJob: { fence, name: 'n' },
  cancelJob: {},
  signalJob: { name: 'n' },
  reopenJob: {},
  reopenDeadLetter: {},
  deadletterJob: { reason: 'timeout' },
  rescheduleJob: { priority: 3 },
  admitJob: {},
  denyJob: {},
  approveJob: { policyHash: 'h', jobHash: 'j' },
  submit002: { topic: 'hostile' },
  schedule002: {},
  deny002: {},
  dispatch002: { worker_id: 'w', topics: ['none'] },
  run002: { fence },
  result002: { fence, status: 'SUCCEEDED' },
  cancel002: {},
  pauseQueue: {},
  resumeQueue: {},
  reportWorker: {},
  defineSchedule: { every: '1h', type: 'x' },
  pauseSchedule: {},
  resumeSchedule: {},
  runSchedule: {},
  setLimit: { concurrency: 1 },
  setPolicy: { text: 'rules: [{ id: a, decision: allow }]' },
  resetLimit: {},
  probeLimit: {},
  startOperation: { action: 'redrive', query: 'queue:none' },
  redriveDeadLetters: { query: 'queue:none' },
  cancelOperation: {},
}

export const goodBody = ({ name }: Route): Readonly<Record<string, unknown>> => GOOD[name] ?? { fence }
