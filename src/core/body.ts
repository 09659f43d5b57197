/** What the record says about a text that is kept beside it. Size in UTF-16 code units, like every length here. */
import { digest } from './hash.ts'
import type { BodyRef } from './job.ts'

export const bodyRef = (name: string, text: string): BodyRef => ({ name, size: text.length, digest: digest(text) })

export const sizeOf = (body: BodyRef | undefined): number => body?.size ?? 0

/** Where nobody will ask whether two of them are the same, or can compare the texts. */
export const bodyRefWithoutDigest = (name: string, text: string): BodyRef => ({
  name,
  size: text.length,
  digest: undefined,
})
