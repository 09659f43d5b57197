/** The lines of an export: what `pawl export` writes and `pawl import` reads. Bodies are texts, exactly as they are stored. */
import { z } from 'zod'
import { policyToWire } from '../client/words.ts'
import type { Annotation, Event } from '../core/event.ts'
import { derive } from '../core/evolve.ts'
import { isEnded } from '../core/job.ts'
import type { Policy } from '../core/policy.ts'
import { type PolicyInput, type Resolved, resolvePolicy } from '../core/resolve.ts'
import { type CarriedJob, isCarried } from '../engine/transfer/carried.ts'
import { eventFromWire, eventToWire, fromWire, jobToWire, toWire, type Wire } from '../gateway/contract/wire.ts'
import type { SettingCollection } from '../store/store.ts'
import { Usage } from './exit.ts'

const texts = z.record(z.string(), z.string())
const wire = z.record(z.string(), z.unknown())

/** Fences are secret and stay where they are. `holdsKey`, absent: as long as the job had not ended, as exports were before they said so. */
const exportedJob = z.object({
  pawl: z.literal('job'),
  version: z.literal(1),
  job: wire,
  bodies: texts.default({}),
  events: z.array(wire).default([]),
  notes: z.array(wire).default([]),
  holdsKey: z.boolean().optional(),
})

const exportedSetting = z.object({
  pawl: z.literal('setting'),
  version: z.literal(1),
  collection: z.custom<SettingCollection>(isCarried),
  key: z.string(),
  text: z.string(),
})

const exportedLimit = z.object({
  pawl: z.literal('limit'),
  version: z.literal(1),
  tenant: z.string(),
  key: z.string(),
  text: z.string(),
  log: z.string().optional(),
})

const exportedLine = z.discriminatedUnion('pawl', [exportedJob, exportedSetting, exportedLimit])

export type ExportedJob = z.infer<typeof exportedJob>
export type ExportedLine = z.infer<typeof exportedLine>

export const lineOf = ({ log, bodies, notes, holdsKey }: CarriedJob): ExportedJob => ({
  pawl: 'job',
  version: 1,
  job: jobToWire(derive(log), true),
  bodies,
  events: log.map(eventToWire),
  notes: notes.map((note) => toWire(note) as Wire),
  holdsKey,
})

/** What somebody has written there may be anything. */
export function parsedLine(text: string, n: number): ExportedLine {
  try {
    return exportedLine.parse(JSON.parse(text))
  } catch {
    throw new Usage(`Line ${n} is not a line of pawl export.`)
  }
}

/** The job as it was carried. */
export function carriedIn({ job, bodies, events, notes, holdsKey }: ExportedJob, n: number): CarriedJob {
  const policy = policyOf(job['policy'], n)
  let log: readonly Event[]
  let live: boolean
  try {
    log = events.map((event) => withPolicy(eventFromWire(event), policy))
    const record = derive(log)
    if (record.id !== job['id'] || record.rev !== job['rev'] || record.state !== job['state'])
      throw new Usage(`Line ${n}: the log and the record of job ${String(job['id'])} differ.`)
    live = record.spec.dedupeKey !== undefined && !isEnded(record)
  } catch (error) {
    if (error instanceof Usage) throw error
    throw new Usage(`Line ${n}: the log of job ${String(job['id'])} cannot be read.`)
  }
  return { log, bodies, notes: notes.map((note) => fromWire(note) as Annotation), holdsKey: holdsKey ?? live }
}

function withPolicy(event: Event, policy: Policy): Event {
  if (event.type !== 'enqueued') return event
  const { spec } = event.payload
  return { ...event, payload: { ...event.payload, spec: { ...spec, kind: { ...spec.kind, policy } } } }
}

/** A file may say anything: what it calls a policy is judged like any other. */
export function policyOf(stored: unknown, n: number): Policy {
  let resolved: Resolved
  try {
    resolved = resolvePolicy(policyToWire(stored as Policy) as PolicyInput)
  } catch {
    throw new Usage(`Line ${n} lacks the policy of its job.`)
  }
  if (resolved.ok) return resolved.policy
  throw new Usage(`Line ${n}: ${resolved.violations.map(({ field, rule }) => `${field}: ${rule}`).join('; ')}`)
}
