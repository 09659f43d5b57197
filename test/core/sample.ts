/** One job in every state, and one well-formed command of every type: what the table tests walk over. */
import type { State } from '../../src/core/job.ts'
import type { CommandType } from '../../src/core/verb.ts'
import { given, type History, type Words } from './given.ts'

export const HISTORIES: Readonly<Record<State, () => History>> = {
  pending: () => given({ admission: true }),
  queued: () => given(),
  claimed: () => given().claims(),
  running: () => given().starts(),
  waiting: () => given().starts().does({ type: 'wait', fence: 'mine', name: 'ok', timeoutMs: 10 }),
  parked: () => given().starts().does({ type: 'wait', fence: 'mine', name: 'ok' }),
  stalled: () => given().starts().after(60_000).does({ type: 'stall' }),
  retrying: () => given().starts().fails(),
  succeeded: () => given().starts().does({ type: 'complete', fence: 'mine' }),
  failed: () => given().starts().fails({ code: 'bad_request' }),
  cancelled: () => given().does({ type: 'cancel', mode: 'hard' }),
  timed_out: () => given({ deadline: 10 }).after(10).does({ type: 'expire' }),
  denied: () => given({ admission: true }).does({ type: 'deny', rule: 'r', policyHash: 'h' }),
  dead_lettered: () => given().does({ type: 'deadLetter', reason: 'policy_violation', stage: 'input' }),
}

export const WORDS: Readonly<Record<CommandType, Words>> = {
  enqueue: { type: 'enqueue' },
  admit: { type: 'admit', rule: 'r', policyHash: 'h' },
  deny: { type: 'deny', rule: 'r', policyHash: 'h' },
  askApproval: { type: 'askApproval', rule: 'r', policyHash: 'h', expiresMs: 1_000 },
  approve: { type: 'approve', policyHash: 'h', jobHash: 'j' },
  claim: { type: 'claim', workerId: 'w2', nonce: 'fedcba9876543210' },
  start: { type: 'start', fence: 'mine' },
  heartbeat: { type: 'heartbeat', fence: 'mine' },
  progress: { type: 'progress', fence: 'mine', progress: { done: 1 } },
  checkpoint: { type: 'checkpoint', fence: 'mine', body: { name: 'checkpoint', size: 2 } },
  record: { type: 'record', fence: 'mine', artifact: { name: 'a', ptr: 's3://a' } },
  complete: { type: 'complete', fence: 'mine', resultPtr: 's3://r' },
  fail: { type: 'fail', fence: 'mine', fault: { code: 'E_GPU_OOM', message: 'oom' } },
  wait: { type: 'wait', fence: 'mine', name: 'approved' },
  signal: { type: 'signal', name: 'ok' },
  release: { type: 'release', fence: 'mine', reason: 'handed_back' },
  reschedule: { type: 'reschedule', priority: 1 },
  replace: { type: 'replace', runAt: 2_000_000 },
  stall: { type: 'stall' },
  requeue: { type: 'requeue' },
  cancel: { type: 'cancel', mode: 'soft' },
  expire: { type: 'expire' },
  deadLetter: { type: 'deadLetter', reason: 'timeout', stage: 'exec' },
  compensated: { type: 'compensated', fence: 'mine' },
  reopen: { type: 'reopen' },
  strip: { type: 'strip', evenOf: 'dead_lettered' },
}
