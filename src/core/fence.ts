/**
 * A fence: the name of one lease, `generation.attempt.nonce`, written in one way and compared whole. Whoever owns a job
 * hands it on as it got it; what is inside is nobody's business but these functions'.
 */
import type { Event } from './event.ts'

export interface Fence {
  readonly generation: number
  readonly attempt: number
  readonly nonce: string
}

const NUMBER = '(0|[1-9]\\d{0,8})'
const NONCE = '[0-9a-f]{16}'
const FENCE = new RegExp(`^${NUMBER}\\.${NUMBER}\\.(${NONCE})$`)
const ATTEMPT = new RegExp(`^${NUMBER}\\.${NUMBER}\\.(?:${NONCE}|…)$`)
const NONCE_ALONE = new RegExp(`^${NONCE}$`)
const FENCES_INSIDE = new RegExp(`(\\d+\\.\\d+)\\.${NONCE}`, 'g')

/** 64 random bits as they are written in a fence. */
export const isNonce = (text: string): boolean => NONCE_ALONE.test(text)

/** The last one is remembered: one nonce serves a whole claim, and nearly all jobs of it are at the same attempt. */
export function fenceOf(generation: number, attempt: number, nonce: string): string {
  if (last.nonce !== nonce || last.attempt !== attempt || last.generation !== generation) {
    last = { generation, attempt, nonce, fence: `${generation}.${attempt}.${nonce}` }
  }
  return last.fence
}

let last = { generation: 0, attempt: 0, nonce: '', fence: '0.0.' }

/** What anybody may have sent; undefined where no lease can have had this name. `0.01` is not `0.1`. */
export function parseFence(text: string): Fence | undefined {
  const match = FENCE.exec(text)
  if (match === null) return undefined
  const [, generation, attempt, nonce = ''] = match
  return { generation: Number(generation), attempt: Number(attempt), nonce }
}

/** The nonce of a fence that `fenceOf` made, without judging it again: for those who see every job of a drain. */
export const nonceIn = (fence: string): string => fence.slice(fence.lastIndexOf('.') + 1)

/**
 * A fence as it is shown to everybody but its owner: which attempt of which generation, and a nonce that no lease has. So a
 * record without its secrets is still a record, and nobody can speak with it.
 */
export type HiddenFence = `${number}.${number}.…`

export const hiddenFence = (generation: number, attempt: number): HiddenFence => `${generation}.${attempt}.…`

/** Which attempt of which generation a fence is of, hidden or not; undefined where it is none. */
export function attemptOf(fence: string): Omit<Fence, 'nonce'> | undefined {
  const match = ATTEMPT.exec(fence)
  return match === null ? undefined : { generation: Number(match[1]), attempt: Number(match[2]) }
}

/** Requests that a worker names after its fence keep what is not secret of it: which attempt, which word. */
export const withoutNonce = (requestId: string): string => requestId.replaceAll(FENCES_INSIDE, '$1.…')

/** The event under another name of its lease: one that nobody who had it knows. What names no lease is as it was. */
export const withNonce = (event: Event, nonce: string): Event =>
  event.type === 'claimed'
    ? { ...event, payload: { ...event.payload, fence: fenceOf(event.generation, event.attempt, nonce) } }
    : event

/**
 * The fence of a word that came without one: it names the attempt the job is at, and no lease has it, since nonces are random. So the word
 * is late, whatever it says, and kept with its note like any other that is.
 */
export const missingFence = (generation: number, attempt: number): string =>
  fenceOf(generation, attempt, '0'.repeat(16))
