/**
 * Repetition. An accepted command is remembered by its request id in the events it caused; repeated, it gets the
 * answer it got. A repetition under another id whose outcome the record already shows is answered likewise.
 */
import type { Command } from './command.ts'
import type { Event } from './event.ts'
import { digest } from './hash.ts'
import { isEnded, type Job, type Receipt } from './job.ts'
import type { CommandType } from './verb.ts'

/**
 * The request id of the word that ends a lease needs no storage: there is one such word per fence. The last one is
 * remembered: the jobs of one claim share their fence, and the same text need not be made and compared for each.
 */
export function impliedRequestId(fence: string, command: CommandType): string {
  if (implied.fence !== fence || implied.command !== command) implied = { fence, command, id: `${fence}/${command}` }
  return implied.id
}

let implied: { readonly fence: string; readonly command: CommandType; readonly id: string } = {
  fence: '',
  command: 'complete',
  id: '/complete',
}

/** Everything about a command that is not its own words. */
const ENVELOPE: ReadonlySet<string> = new Set([
  'actor',
  'requestId',
  'correlationId',
  'cause',
  'traceparent',
  'expectedRev',
  'kind',
  'executionMs',
  'startedAt',
  'level',
])

/** Empty where nothing needs telling apart: claims and heartbeats have no words, an implied request id no reuse. */
export function digestOf(command: Command): string {
  if (command.type === 'claim' || command.type === 'heartbeat') return ''
  const fence = 'fence' in command ? command.fence : undefined
  if (fence !== undefined && command.requestId === impliedRequestId(fence, command.type)) return ''
  const fields = Object.entries(command).filter(([name]) => !ENVELOPE.has(name))
  return digest(JSON.stringify(Object.fromEntries(fields), inOrder))
}

/** Two maps that say the same. */
export const saysTheSame = (a: object, b: object): boolean => JSON.stringify(a, inOrder) === JSON.stringify(b, inOrder)

/** A map said again in another order is the same map; and what no validator looks at must not throw either. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

export type Repetition =
  | { readonly kind: 'replay'; readonly receipt: Receipt }
  | { readonly kind: 'reuse'; readonly receipt: Receipt }

/** What this request id stands for already, if anything. */
export function repetition(job: Job, command: Command, caused: readonly Event[]): Repetition | undefined {
  const receipt = remembered(job, command) ?? receiptOf(caused)
  if (receipt === undefined) return undefined
  const same = receipt.command === command.type && (receipt.digest === '' || receipt.digest === digestOf(command))
  return { kind: same ? 'replay' : 'reuse', receipt }
}

/** The receipt the events of one request amount to: the last of them tells where it led. */
export function receiptOf(caused: readonly Event[]): Receipt | undefined {
  const last = caused.at(-1)
  if (last === undefined) return undefined
  const { requestId, command, rev, state, at } = last
  return { requestId, command, digest: last.digest, rev, state, at }
}

/** What the record itself remembers, for the owner who said it and nobody else. */
function remembered(job: Job, command: Command): Receipt | undefined {
  if (!('fence' in command) || job.lease === undefined || job.lease.fence !== command.fence) return undefined
  if (command.type === 'heartbeat' && job.lease.lastBeatId === command.requestId) return receiptAt(job, command, '')
  for (const receipt of job.recent) if (receipt.requestId === command.requestId) return receipt
  return undefined
}

/** Does the record already show what this command asks for, by the same owner? */
export function alreadyDone(job: Job, command: Command): Receipt | undefined {
  switch (command.type) {
    case 'admit':
      return job.state === 'queued' && job.attempt === 0 && job.spec.kind.policy.admission
        ? receiptAt(job, command)
        : undefined
    case 'deny':
      return job.state === 'denied' && job.verdict.rule === command.rule ? receiptAt(job, command) : undefined
    case 'start':
      return job.state === 'running' && job.lease.fence === command.fence ? receiptAt(job, command) : undefined
    case 'complete':
      return job.state === 'succeeded' &&
        job.lastClaim?.fence === command.fence &&
        job.result.ptr === command.resultPtr &&
        job.result.body?.digest === command.result?.digest &&
        job.result.body?.size === (command.result?.size ?? (command.resultPtr === undefined ? 0 : undefined))
        ? receiptAt(job, command)
        : undefined
    case 'fail':
      return isEnded(job) &&
        job.lastClaim?.fence === command.fence &&
        job.error?.code === command.fault.code &&
        job.error.message === command.fault.message
        ? receiptAt(job, command)
        : undefined
    case 'cancel':
      return job.state === 'cancelled' ||
        (job.cancel !== undefined && isUnderWay(job) && command.mode === 'soft' && command.fence === undefined)
        ? receiptAt(job, command)
        : undefined
    case 'strip':
      return job.strippedAt === undefined ? undefined : receiptAt(job, command)
    default:
      return undefined
  }
}

/** Its owner knows or will be told; or the steps are being undone on the way there. */
const isUnderWay = (job: Job): boolean => job.lease !== undefined || job.phase === 'compensate'

const receiptAt = (job: Job, command: Command, digest = digestOf(command)): Receipt => ({
  requestId: command.requestId,
  command: command.type,
  digest,
  rev: job.rev,
  state: job.state,
  at: job.updatedAt,
})
