/** Viewers see what happens, not what with: neither payloads nor the environment a job was given. */
import type { Event } from '../core/event.ts'
import type { Job, Spec } from '../core/job.ts'
import type { Call } from './call.ts'

export const isMasked = ({ token }: Call): boolean => token.scope === 'viewer'

export const jobFor = (call: Call, job: Job): Job =>
  isMasked(call) ? ({ ...job, spec: withoutEnv(job.spec) } as Job) : job

export const eventForViewers = (event: Event): Event =>
  event.type === 'enqueued' ? { ...event, payload: { ...event.payload, spec: withoutEnv(event.payload.spec) } } : event

const withoutEnv = (spec: Spec): Spec => ({ ...spec, env: undefined })
