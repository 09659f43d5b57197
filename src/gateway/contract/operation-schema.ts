/** What somebody asks of many jobs; the engine judges the search. */
import { z } from 'zod'
import { LENGTHS } from '../../core/limits.ts'
import { ACTIONS, type OperationStatus } from '../../core/operation.ts'
import { membersOnly } from './collections.ts'
import { anything, duration, requestId, text } from './fields.ts'
import { toWire, type Wire } from './wire.ts'

const words = {
  query: z.string().max(2_000).describe('a search, as `q` of GET /v1/jobs has it; empty: all dead letters'),
  dryRun: z.boolean().default(false).describe('look only, and count'),
  reason: text(LENGTHS.message).optional().describe('why, for the log of each job'),
  requestId,
}

const redriving = {
  canary: z.int().min(1).max(1_000).optional().describe('so many first, the rest if all of them succeed'),
  canaryWithin: duration.optional().describe('how long the canaries may take; an hour unless given'),
  input: anything.optional().describe('an input in place of each one’s own, in a new job whose parent the old one is'),
  patch: anything.optional().describe('a merge patch (RFC 7396) of each one’s input, in a new job likewise'),
}

export const redrive = membersOnly({ ...words, ...redriving })

export const operation = membersOnly({
  action: z.enum(ACTIONS),
  ...words,
  ...redriving,
  mode: z.enum(['soft', 'hard']).optional().describe('of a cancel; soft unless given'),
})

export const KEPT_BY_OPERATIONS = { input: true, patch: true } as const

export const operationsQuery = membersOnly({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z.string().max(1_000).optional(),
})

/** Flat, as it is told everywhere. */
export const operationToWire = ({ spec, ...rest }: OperationStatus): Wire => toWire({ ...rest, ...spec }) as Wire
