/** Two jobs and one key, as small as they can be: what scripts look at and write, and what the ledger folds. */
import type { Entry } from '../../../src/store/ledger/entry.ts'

/** All but the end of a job may be anybody's. A job that has ended may leave for the ledger, and come back. */
export type Deed = 'insert' | 'claim' | 'stall' | 'end' | 'reopen' | 'evict' | 'restore'

export interface Rec {
  readonly rev: number
  readonly state: 'queued' | 'claimed' | 'ended'
  /** Name of the call that claimed it. */
  readonly owner: string
  /** The entry that changed it last. */
  readonly seq: number
  /** It has left: a server knows that it is there, and nothing else of it. */
  readonly left: boolean
}

export interface Jobs {
  readonly jobs: readonly (Rec | null)[]
  /** The job that has the key, from 1; 0: nobody. */
  readonly key: number
}

export const NO_JOBS: Jobs = { jobs: [null, null], key: 0 }

/** It carries what is to be written, whole. */
export interface Written extends Entry {
  /** In which the server that wrote it was joined: the model's own book. */
  readonly epoch: number
  readonly job: number
  readonly deed: Deed
  readonly rec: Rec
  readonly key: number
}

/** What a caller brings along. `owner`: under which claim it ends a job; `read`: what it has read of a job that has left. */
export interface Said {
  readonly deed: Deed
  readonly job: number
  readonly name: string
  readonly owner: string
  readonly read?: Rec | undefined
}

/** What a script would write; undefined where it would write nothing. */
export function done(
  { jobs, key }: Jobs,
  { deed, job, name, owner, read }: Said,
  seq: number,
): Pick<Written, 'rec' | 'key'> | undefined {
  const rec = jobs[job] ?? null
  if (rec?.left === true)
    return deed === 'restore' && read !== undefined ? { rec: { ...read, left: false }, key } : undefined
  const rev = (rec?.rev ?? 0) + 1
  switch (deed) {
    case 'insert':
      return rec === null && key === 0
        ? { rec: { rev, state: 'queued', owner: '', seq, left: false }, key: job + 1 }
        : undefined
    case 'claim':
      return rec?.state === 'queued'
        ? { rec: { rev, state: 'claimed', owner: name, seq, left: false }, key }
        : undefined
    case 'stall':
      return rec?.state === 'claimed' ? { rec: { rev, state: 'queued', owner: '', seq, left: false }, key } : undefined
    case 'end':
      return rec?.state === 'claimed' && rec.owner === owner
        ? { rec: { rev, state: 'ended', owner, seq, left: false }, key: 0 }
        : undefined
    case 'reopen':
      return rec?.state === 'ended' && key === 0
        ? { rec: { rev, state: 'queued', owner: '', seq, left: false }, key: job + 1 }
        : undefined
    case 'evict':
      return rec?.state === 'ended' ? { rec: { ...rec, left: true }, key } : undefined
    case 'restore':
      return undefined
  }
}

export const applied = (state: Jobs, { job, rec, key }: Written): Jobs => ({
  jobs: state.jobs.with(job, rec),
  key,
})

/** Whether the entry is what a script would have written on this: one owner, one holder of the key, each revision once. */
export function isLegal(state: Jobs, { deed, job, name, rec, key, seq }: Written): boolean {
  const read = state.jobs[job] ?? undefined
  const expected = done(state, { deed, job, name, owner: deed === 'end' ? rec.owner : '', read }, seq)
  return expected !== undefined && expected.key === key && sameRec(expected.rec, rec)
}

export const sameRec = (a: Rec | null, b: Rec | null): boolean =>
  a === b ||
  (a !== null &&
    b !== null &&
    a.rev === b.rev &&
    a.state === b.state &&
    a.owner === b.owner &&
    a.seq === b.seq &&
    a.left === b.left)

export const sameJobs = (a: Jobs, b: Jobs): boolean =>
  a.key === b.key && a.jobs.every((rec, job) => sameRec(rec, b.jobs[job] ?? null))

export const describeJobs = ({ jobs, key }: Jobs): string =>
  `${jobs.map((rec) => (rec === null ? '-' : `${rec.state[0]}${rec.rev}${rec.left ? '!' : ''}`)).join('')}${key === 0 ? '' : `k${key}`}`
