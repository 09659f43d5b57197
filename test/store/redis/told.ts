/** What callers were told. What it comes to is judged in `expect-told.ts`; who calls is in `life.ts`. */
import type { JobId, Time } from '../../../src/core/job.ts'
import type { Store } from '../../../src/store/store.ts'

export interface Told {
  /** By job: its input, which no other job has. */
  readonly born: Map<JobId, string>
  /** Jobs that were brought under the key that only one of those that live may have, whatever became of them. */
  readonly keyed: Set<JobId>
  /** By job: it is not to run before. */
  readonly notBefore: Map<JobId, Time>
  /** By job: the fence of whoever was given it, and the end of the lease that it was told of last. */
  readonly owned: Map<JobId, { readonly fence: string; readonly until: Time }>
  /** By job: the revision at its end. */
  readonly ended: Map<JobId, number>
  /** Jobs of which nothing was written, by what was said. */
  readonly refused: Set<JobId>
  /** Words of which nothing was written, by what was said: the request, and the job that it was about. */
  readonly unsaid: Map<string, JobId>
  /** Jobs that were named as those that hold a key. */
  readonly named: Set<JobId>
  /** What became of a document, by its revision. */
  readonly documents: Map<number, string>
  /** First numbers of the blocks of ids that were given out. */
  readonly blocks: Set<JobId>
  /** Jobs that run under the key of which two may. */
  readonly running: Set<JobId>
}

export const toldNothing = (): Told => ({
  born: new Map(),
  keyed: new Set(),
  notBefore: new Map(),
  owned: new Map(),
  ended: new Map(),
  refused: new Set(),
  unsaid: new Map(),
  named: new Set(),
  documents: new Map(),
  blocks: new Set(),
  running: new Set(),
})

/** Whose all jobs are, whichever process they come from. */
export const TENANT = 'told'

/** The revision of the document that was told of last. */
export const lastRevision = ({ documents }: Told): number => Math.max(0, ...documents.keys())

/** The document that everybody changes, as a pause or a revoked token is changed. */
export const DOCUMENT = { collection: 'duty', key: 'told' } as const

export async function documentOf(store: Store): Promise<{ readonly rev: number; readonly text: string }> {
  const [there] = await store.settings([{ op: 'get', ...DOCUMENT }])
  return there?.settings[0] ?? { rev: 0, text: '' }
}
