/** What flows and their keys are called in Redis: hashes of their names, which are made of what users say, and may be long. */
import { createHash } from 'node:crypto'
import { flowNameOf } from '../../../core/flow/membership.ts'
import type { Job } from '../../../core/job.ts'

/** Letters of a hash: 132 bits. */
const LETTERS = 22

const hashOf = (name: string): string => createHash('sha256').update(name).digest('base64url').slice(0, LETTERS)

export const limitId = (tenant: string, key: string): string => hashOf(JSON.stringify([tenant, key]))

export const flowId = (job: Job): string => hashOf(flowNameOf(job) ?? '')
