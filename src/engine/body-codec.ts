import type { Job } from '../core/job.ts'
import { reasonOf } from '../core/reason.ts'
import type { Violation } from '../core/refusal.ts'
import type { Body } from '../store/store.ts'
import type { Word } from './engine.ts'

/**
 * What becomes of body texts on their way to the store or gateway and back: the one place where they are encrypted or
 * compressed. Sizes and digests on the record are those of the plain text. What comes out must be JSON, like what goes
 * in: a string will do.
 */
export interface BodyCodec {
  encode(text: string, about: BodyAbout): string
  decode(text: string, about: BodyAbout): string
}

/** Whose body it is. A text that is moved to another job must not be readable there. */
export interface BodyAbout {
  readonly tenant: string
  /** The id its producer chose, else the one it was given. */
  readonly job: string
}

export const plainText: BodyCodec = { encode: (text) => text, decode: (text) => text }

export const aboutJob = ({ id, spec }: Pick<Job, 'id' | 'spec'>): BodyAbout => ({
  tenant: spec.kind.tenant,
  job: spec.alias ?? id,
})

/** A codec is somebody else's: it may throw, or answer with no text. Either is told by this, and harms that body only. */
export class Unencodable extends Error {
  override readonly name = 'Unencodable'
  readonly violation: Violation

  constructor(field: string, why: string) {
    super(`${field}: the codec failed: ${why}`)
    this.violation = { field, rule: `the codec failed: ${why}` }
  }
}

export function encoded(codec: BodyCodec, { name, text }: Body, about: BodyAbout): string | Unencodable {
  if (codec === plainText) return text
  try {
    const made: unknown = codec.encode(text, about)
    return typeof made === 'string'
      ? made
      : new Unencodable(name, `encode answered with a ${typeof made}, not with text`)
  } catch (error) {
    return new Unencodable(name, reasonOf(error))
  }
}

/** All of a job's, or none: throws the first that cannot be encoded. */
export function encodeBodies(codec: BodyCodec, bodies: readonly Body[], about: BodyAbout): readonly Body[] {
  return bodies.map((body) => {
    const text = encoded(codec, body, about)
    if (text instanceof Unencodable) throw text
    return { name: body.name, text }
  })
}

export function decodeBodies(
  codec: BodyCodec,
  bodies: Readonly<Record<string, string>>,
  job: Job,
): Readonly<Record<string, string>> {
  if (codec === plainText) return bodies
  const about = aboutJob(job)
  return Object.fromEntries(Object.entries(bodies).map(([name, text]) => [name, codec.decode(text, about)]))
}

/** Undefined for what cannot be read: with a claim it must not take its neighbours along. Who loads it is told why. */
export function readable(codec: BodyCodec, text: string | undefined, about: BodyAbout): string | undefined {
  try {
    return text === undefined ? undefined : codec.decode(text, about)
  } catch {
    return undefined
  }
}

const SEALED = 'encrypted; see the body of this error'

/** An error's message may quote what is secret: it stays in the error's body, which is encoded, and leaves the record. */
export function sealed(codec: BodyCodec, word: Word): Word {
  const { command } = word
  if (codec === plainText || command.type !== 'fail' || command.fault.message === '') return word
  const { message, context: _, ...fault } = command.fault
  const attempt = command.fence.split('.')[1] ?? '0'
  const bodies = word.bodies ?? [{ name: `error/${attempt}`, text: JSON.stringify({ message }) }]
  return { ...word, bodies, command: { ...command, fault: { ...fault, message: SEALED } } }
}
