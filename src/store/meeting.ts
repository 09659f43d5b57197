/** A new job that met one that was first with its id, its alias or one of its keys. */
import type { Job } from '../core/job.ts'
import type { NewJob } from './store.ts'

/** Inputs of different sizes differ, so the holder's, which may be far larger than the newcomer's, need not be read. */
export const mayHaveInputOf = ({ spec }: Job, { job }: NewJob): boolean => spec.input?.size === job.spec.input?.size
