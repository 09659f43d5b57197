/**
 * The mutable part of a record as compact JSON text: what differs from an untouched job, under short keys. What was
 * asked for is not in it (it never changes and is kept once); `readyAt` and `nextTickAt` are, because a record is read back as
 * it was written, not as a later version would compute it. A key may be added, none may change its meaning.
 */
import type { Job, Spec } from '../../core/job.ts'
import { specAs } from '../../core/recast.ts'
import { STATE_CODES } from './codes.ts'
import {
  list,
  maybeNumber,
  maybeText,
  number,
  numbers,
  type Packed,
  packNumbers,
  parsed,
  text,
  texts,
  zero,
} from './packed.ts'
import {
  maybeBody,
  maybeFailure,
  maybeProgress,
  maybeTerms,
  packApproval,
  packBody,
  packCancel,
  packDeadLetter,
  packEnding,
  packFailure,
  packLastClaim,
  packLease,
  packNewer,
  packProgress,
  packReceipt,
  packResult,
  packSignal,
  packTerms,
  packVerdict,
  packWait,
  stateOf,
  unpackApproval,
  unpackCancel,
  unpackDeadLetter,
  unpackEnding,
  unpackLastClaim,
  unpackLease,
  unpackNewer,
  unpackReceipt,
  unpackResult,
  unpackSignal,
  unpackVerdict,
  unpackWait,
} from './parts.ts'
import { packRecasted, unpackRecasted } from './recast.ts'

export function encodeRecord(job: Job): string {
  return JSON.stringify({
    s: STATE_CODES[job.state],
    r: job.rev,
    q: job.seq,
    u: job.updatedAt,
    p: job.priority,
    nd: job.needs,
    tm: job.terms && packTerms(job.terms),
    rt: job.recast && packRecasted(job.recast),
    ap: job.approval && packApproval(job.approval),
    b: job.baseRev === job.rev ? undefined : job.baseRev,
    g: orNothing(job.generation),
    a: orNothing(job.attempt),
    f: orNothing(job.failures),
    l: orNothing(job.stalls),
    ph: job.phase === 'run' ? undefined : 1,
    in: job.intended && packEnding(job.intended),
    sa: job.startedAt,
    da: job.deadlineAt,
    sb: job.startBy,
    c: job.cancel && packCancel(job.cancel),
    nw: job.newer && packNewer(job.newer),
    ib: job.inbox.length === 0 ? undefined : job.inbox.map(packSignal),
    sg: orNothing(job.signals),
    pr: job.progress && packProgress(job.progress),
    co: isEmpty(job.counters) ? undefined : packNumbers(job.counters),
    ar: isEmpty(job.artifacts) ? undefined : job.artifacts,
    ck: job.checkpoint && packBody(job.checkpoint),
    st: orNothing(job.steps),
    ob: orNothing(job.observations),
    sp: job.strippedAt,
    bs: orNothing(job.bodySize),
    cp: job.compensations.length === 0 ? undefined : job.compensations,
    lf: job.lastFailure && packFailure(job.lastFailure),
    lc: job.lastClaim && packLastClaim(job.lastClaim),
    x: job.executionMs === 0 && !Object.is(job.executionMs, -0) ? undefined : zero(job.executionMs),
    rc: job.recent.length === 0 ? undefined : job.recent.map(packReceipt),
    ra: job.readyAt,
    t: job.nextTickAt,
    ru: job.runAt,
    o: job.owner?.workerId,
    le: job.lease && packLease(job.lease),
    w: job.wait && packWait(job.wait),
    re: job.result && packResult(job.result),
    e: job.error && packFailure(job.error),
    dl: job.deadLetter && packDeadLetter(job.deadLetter),
    v: job.verdict && packVerdict(job.verdict),
    ea: job.endedAt,
  })
}

export function decodeRecord(stored: string, id: string, spec: Spec): Job {
  const d = parsed(stored) as Readonly<Record<string, Packed>>
  const rev = number(d['r'])
  const workerId = maybeText(d['o'])
  const recast = d['rt'] == null ? undefined : unpackRecasted(d['rt'], spec)
  return {
    id,
    spec: recast === undefined ? spec : specAs(recast),
    priority: number(d['p']),
    needs: maybeText(d['nd']),
    terms: maybeTerms(d['tm']),
    recast,
    approval: d['ap'] == null ? undefined : unpackApproval(list(d['ap'])),
    phase: d['ph'] === 1 ? 'compensate' : 'run',
    intended: d['in'] == null ? undefined : unpackEnding(d['in']),
    generation: maybeNumber(d['g']) ?? 0,
    attempt: maybeNumber(d['a']) ?? 0,
    rev,
    seq: number(d['q']),
    baseRev: maybeNumber(d['b']) ?? rev,
    failures: maybeNumber(d['f']) ?? 0,
    stalls: maybeNumber(d['l']) ?? 0,
    updatedAt: number(d['u']),
    startedAt: maybeNumber(d['sa']),
    deadlineAt: maybeNumber(d['da']),
    startBy: maybeNumber(d['sb']),
    cancel: d['c'] == null ? undefined : unpackCancel(d['c']),
    newer: d['nw'] == null ? undefined : unpackNewer(d['nw']),
    inbox: d['ib'] == null ? [] : list(d['ib']).map(unpackSignal),
    signals: maybeNumber(d['sg']) ?? 0,
    progress: maybeProgress(d['pr']),
    counters: d['co'] == null ? {} : numbers(d['co']),
    artifacts: d['ar'] == null ? {} : texts(d['ar']),
    checkpoint: maybeBody(d['ck']),
    steps: maybeNumber(d['st']) ?? 0,
    observations: maybeNumber(d['ob']) ?? 0,
    strippedAt: maybeNumber(d['sp']),
    bodySize: maybeNumber(d['bs']) ?? 0,
    compensations: d['cp'] == null ? [] : list(d['cp']).map(text),
    lastFailure: maybeFailure(d['lf']),
    lastClaim: d['lc'] == null ? undefined : unpackLastClaim(d['lc']),
    executionMs: maybeNumber(d['x']) ?? 0,
    recent: d['rc'] == null ? [] : list(d['rc']).map(unpackReceipt),
    readyAt: maybeNumber(d['ra']),
    nextTickAt: maybeNumber(d['t']),
    runAt: maybeNumber(d['ru']),
    owner: workerId === undefined ? undefined : { workerId },
    lease: d['le'] == null ? undefined : unpackLease(d['le']),
    wait: d['w'] == null ? undefined : unpackWait(d['w']),
    result: d['re'] == null ? undefined : unpackResult(d['re']),
    error: maybeFailure(d['e']),
    deadLetter: d['dl'] == null ? undefined : unpackDeadLetter(d['dl']),
    verdict: d['v'] == null ? undefined : unpackVerdict(d['v']),
    endedAt: maybeNumber(d['ea']),
    state: stateOf(d['s']),
  } as Job
}

const orNothing = (value: number): number | undefined => (value === 0 ? undefined : value)

const isEmpty = (record: Readonly<Record<string, unknown>>): boolean => {
  for (const _ in record) return false
  return true
}
