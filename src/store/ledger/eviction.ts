/** Ended jobs leave the server once the ledger has them for reading, and come back from there when something is to be done with them. */
import type { Account } from './account.ts'
import type { Meta } from './meta.ts'

/** `changed`: the entry that changed the job last. */
export const isEvictable = (changed: number, { folded }: Account): boolean => changed <= folded

export const withEvicted = (meta: Meta, changed: number): Meta => ({
  ...meta,
  evicted: Math.max(meta.evicted, changed),
})

/** Of a job that the server does not have, read where the fold had come to `folded`: it may have been back, changed and gone since. */
export const mayRestore = (meta: Meta, folded: number): boolean => meta.evicted <= folded
