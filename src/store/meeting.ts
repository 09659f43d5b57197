/** A new job that met one that was first with its id, its alias or one of its keys. */
import type { Job } from '../core/job.ts'
import type { NewJob } from './store.ts'

/** Where even the sizes differ nobody need read the other's input, which may be far larger than what was brought. */
export const mayHaveInputOf = ({ spec }: Job, { job }: NewJob): boolean => spec.input?.size === job.spec.input?.size
