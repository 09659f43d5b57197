/**
 * What a stretch of the log says for reports: of each job that was written what its last text makes it, and of each of its texts what
 * the commit told that wrote it.
 */
import { assert } from '../../../core/assert.ts'
import { idNumber } from '../../../core/id.ts'
import type { Kind } from '../../../core/job.ts'
import { STATE_CODES } from '../../codec/codes.ts'
import type { OpeningClaim } from '../../codec/opening.ts'
import { storable } from '../../codec/text.ts'
import type { Command } from '../../ledger/image.ts'
import { EVICTED_KEY } from '../../ledger/own-keys.ts'
import type { Report, ReportedJob, ReportedStretch } from '../../ledger/report.ts'
import { jobOf, untoldClaim } from '../job/decode.ts'
import { idOf } from '../job/id-text.ts'
import { APART, INLINE, type JobText, jobTextIn } from '../job/job-text.ts'

/** What a stretch of the log has written of one job. */
interface Written {
  /** Its texts, one after the other, each with when it was written; none where nothing is left of it. */
  texts: { readonly at: number; readonly value: string }[]
  /** Stretches of its log that left its text at once, by revision. */
  readonly pushed: Map<number, { readonly at: number; readonly text: string }>
  born: string | undefined
  isPurged: boolean
  isRewritten: boolean
  /** That it has left the server, or has come back; undefined where neither is told. */
  isEvicted: boolean | undefined
}

export type WrittenJobs = ReadonlyMap<string, Written>

const JOB = 'job:'
const BORN = 'born:'
const PAST = 'past:'

export const bornKey = (digits: string): string => `${BORN}${digits}`

/** By the digits of their ids. */
export function writtenJobs(
  entries: Iterable<{ readonly at: number; readonly commands: readonly Command[] }>,
): WrittenJobs {
  const found = new Map<string, Written>()
  for (const { at, commands } of entries) for (const command of commands) note(found, at, command)
  return found
}

function note(found: Map<string, Written>, at: number, [command, ...words]: Command): void {
  if (command === 'MSET') {
    for (let i = 0; i + 1 < words.length; i += 2) noteText(found, at, words[i] ?? '', words[i + 1] ?? '')
  } else if (command === 'UNLINK') {
    for (const key of words) noteRemoval(found, key)
  } else if (command === 'XADD' && words[0]?.startsWith(PAST) === true) {
    const [key, id = '', , text = ''] = words
    writtenOf(found, key.slice(PAST.length)).pushed.set(Number.parseInt(id, 10), { at, text })
  } else if (words[0] === EVICTED_KEY) {
    for (const digits of words.slice(1)) writtenOf(found, digits).isEvicted = command === 'SADD'
  }
}

function noteText(found: Map<string, Written>, at: number, key: string, value: string): void {
  if (key.startsWith(BORN)) {
    const job = writtenOf(found, key.slice(BORN.length))
    job.born = value
  } else if (key.startsWith(JOB)) {
    const job = writtenOf(found, key.slice(JOB.length))
    job.isPurged = false
    job.texts.push({ at, value })
  }
}

/** Of a log that is written again, what was told before is told by the text that comes with it. */
function noteRemoval(found: Map<string, Written>, key: string): void {
  const prefix = [JOB, PAST].find((each) => key.startsWith(each))
  if (prefix === undefined) return
  const job = writtenOf(found, key.slice(prefix.length))
  job.texts = []
  job.pushed.clear()
  job.isRewritten = true
  if (prefix === JOB) job.isPurged = true
}

function writtenOf(found: Map<string, Written>, digits: string): Written {
  const known = found.get(digits)
  if (known !== undefined) return known
  const job: Written = {
    texts: [],
    pushed: new Map(),
    born: undefined,
    isPurged: false,
    isRewritten: false,
    isEvicted: undefined,
  }
  found.set(digits, job)
  return job
}

/** `bornOf`: what a job was born with, where the stretch does not say; `kindOf`: of a number. */
export function reportOf(
  written: WrittenJobs,
  bornOf: (digits: string) => string | undefined,
  kindOf: (number: string) => Kind,
): Report {
  const jobs: ReportedJob[] = []
  const stretches: ReportedStretch[] = []
  const purged: number[] = []
  const rewritten: number[] = []
  const evicted: number[] = []
  const restored: number[] = []
  for (const [digits, job] of written) {
    const number = idNumber(idOf(digits))
    assert(number !== undefined, 'a job that was written has an id')
    if (job.isPurged) {
      purged.push(number)
      continue
    }
    if (job.isRewritten) rewritten.push(number)
    if (job.isEvicted !== undefined) (job.isEvicted ? evicted : restored).push(number)
    if (job.texts.length === 0 && job.pushed.size === 0) continue
    const born = job.born ?? bornOf(digits)
    assert(born !== undefined, `job ${digits} was born before it was changed`)
    const texts = job.texts.map(({ at, value }) => ({ at, text: jobTextIn(value, born) }))
    stretches.push(...stretchesOf(number, job, texts))
    const last = texts.at(-1)
    if (last !== undefined) jobs.push(jobRow(number, digits, last.text, kindOf(last.text.kind)))
  }
  return { jobs, stretches, purged, rewritten, evicted, restored }
}

/** The numbers of kinds that the last texts of jobs name: behind the first line. */
export function kindsIn(written: WrittenJobs): ReadonlySet<string> {
  const numbers = new Set<string>()
  for (const { texts } of written.values()) {
    const [, kind] = texts.at(-1)?.value.split('\n', 2) ?? []
    if (kind !== undefined) numbers.add(kind.slice(0, kind.indexOf(' ')))
  }
  return numbers
}

function stretchesOf(
  job: number,
  { pushed }: Written,
  texts: readonly { readonly at: number; readonly text: JobText }[],
): readonly ReportedStretch[] {
  const found = new Map<number, ReportedStretch>()
  const add = (rev: number, at: number, opening: string, log: string) => {
    if (log !== '' && !found.has(rev)) found.set(rev, { job, rev, at, ...told(opening, log) })
  }
  for (const { at, text } of texts) add(Number(text.tailRev), at, text.opening, text.log)
  for (const [rev, { at, text }] of pushed) {
    const end = text.indexOf('\n')
    add(rev, at, text.slice(0, end), text.slice(end + 1))
  }
  return [...found.values()]
}

function told(opening: string, log: string): Pick<ReportedStretch, 'claimedAt' | 'letters'> {
  const [, ...events] = JSON.parse(log) as readonly (readonly [letter: string])[]
  const claim = opening === '' ? null : (JSON.parse(opening) as readonly [OpeningClaim | null])[0]
  return { claimedAt: claim?.[3], letters: events.map(([letter]) => letter).join('') }
}

export function jobRow(id: number, digits: string, text: JobText, kind: Kind): ReportedJob {
  const job = jobOf({ id: idOf(digits), text, kind })
  const { correlationId } = job.spec
  const isApart = text.inputSize.startsWith(APART) || text.output.startsWith(APART)
  return {
    id,
    tenant: storable(kind.tenant),
    queue: storable(kind.queue),
    type: storable(kind.type),
    state: STATE_CODES[job.state],
    generation: job.generation,
    attempt: job.attempt,
    rev: job.rev,
    priority: job.priority,
    createdAt: Number(text.bornAt),
    readyAt: job.readyAt,
    worker: job.owner === undefined ? undefined : storable(job.owner.workerId),
    leaseExpiresAt: job.lease?.expiresAt,
    claimedAt: untoldClaim(text)?.[3],
    endedAt: job.endedAt,
    correlation: correlationId === job.id ? undefined : storable(correlationId),
    input: text.inputSize.startsWith(INLINE) ? text.input : undefined,
    output: text.output.startsWith(INLINE) ? text.output.slice(INLINE.length) : undefined,
    bodies: isApart ? `body:${digits}` : undefined,
  }
}
