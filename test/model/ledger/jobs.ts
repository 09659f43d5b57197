/** Two jobs and one key, as small as they can be: what scripts look at and write, and what the ledger folds. */
import type { Entry } from '../../../src/store/ledger/entry.ts'

/** All but the end of a job may be anybody's. */
export type Deed = 'insert' | 'claim' | 'stall' | 'end' | 'reopen'

export interface Rec {
  readonly rev: number
  readonly state: 'queued' | 'claimed' | 'ended'
  /** Name of the call that claimed it. */
  readonly owner: string
  /** The entry that changed it last. */
  readonly seq: number
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

/** What a script would write; undefined where it would write nothing. `owner`: under which claim the caller ends a job. */
export function done(
  { jobs, key }: Jobs,
  deed: Deed,
  job: number,
  name: string,
  owner: string,
  seq: number,
): Pick<Written, 'rec' | 'key'> | undefined {
  const rec = jobs[job] ?? null
  const rev = (rec?.rev ?? 0) + 1
  switch (deed) {
    case 'insert':
      return rec === null && key === 0 ? { rec: { rev, state: 'queued', owner: '', seq }, key: job + 1 } : undefined
    case 'claim':
      return rec?.state === 'queued' ? { rec: { rev, state: 'claimed', owner: name, seq }, key } : undefined
    case 'stall':
      return rec?.state === 'claimed' ? { rec: { rev, state: 'queued', owner: '', seq }, key } : undefined
    case 'end':
      return rec?.state === 'claimed' && rec.owner === owner
        ? { rec: { rev, state: 'ended', owner, seq }, key: 0 }
        : undefined
    case 'reopen':
      return rec?.state === 'ended' && key === 0
        ? { rec: { rev, state: 'queued', owner: '', seq }, key: job + 1 }
        : undefined
  }
}

export const applied = (state: Jobs, { job, rec, key }: Written): Jobs => ({
  jobs: state.jobs.with(job, rec),
  key,
})

/** Whether the entry is what a script would have written on this: one owner, one holder of the key, each revision once. */
export function isLegal(state: Jobs, { deed, job, name, rec, key, seq }: Written): boolean {
  const expected = done(state, deed, job, name, deed === 'end' ? rec.owner : '', seq)
  return expected !== undefined && expected.key === key && sameRec(expected.rec, rec)
}

export const sameRec = (a: Rec | null, b: Rec | null): boolean =>
  a === b ||
  (a !== null && b !== null && a.rev === b.rev && a.state === b.state && a.owner === b.owner && a.seq === b.seq)

/** Ended jobs may have been evicted. */
export const isSameBut = (hot: Jobs, all: Jobs): boolean =>
  hot.key === all.key &&
  all.jobs.every((rec, job) => {
    const here = hot.jobs[job] ?? null
    return sameRec(here, rec) || (here === null && rec?.state === 'ended')
  })

export const without = ({ jobs, key }: Jobs, job: number): Jobs => ({ jobs: jobs.with(job, null), key })

export const describeJobs = ({ jobs, key }: Jobs): string =>
  `${jobs.map((rec) => (rec === null ? '-' : `${rec.state[0]}${rec.rev}`)).join('')}${key === 0 ? '' : `k${key}`}`
