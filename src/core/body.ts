/** What the record says about a text that is kept beside it. Size in UTF-16 code units, like every length here. */
import { digest } from './hash.ts'
import type { BodyRef } from './job.ts'
import type { CommandType } from './verb.ts'

export const bodyRef = (name: string, text: string): BodyRef => ({ name, size: text.length, digest: digest(text) })

export const sizeOf = (body: BodyRef | undefined): number => body?.size ?? 0

/** Where nobody will ask whether two of them are the same, or can compare the texts. */
export const bodyRefWithoutDigest = (name: string, text: string): BodyRef => ({
  name,
  size: text.length,
  digest: undefined,
})

/** Names of bodies: those there are one of, and those that each attempt, step or signal has one of. */
export const errorBody = (attempt: number): string => `error/${attempt}`
export const stepBody = (step: string): string => `step/${step}`

/** Under which names each command may write: no word can overwrite an input, or the memo of somebody else's step. */
const WRITES: Readonly<Partial<Record<CommandType, RegExp>>> = {
  complete: /^output$/,
  checkpoint: /^checkpoint$/,
  record: /^step\/./,
  fail: /^error\/./,
  signal: /^signal/,
  replace: /^(?:replaced|next)$/,
}

export const mayWrite = (command: CommandType, name: string): boolean => WRITES[command]?.test(name) ?? false
