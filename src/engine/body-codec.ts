import { reasonOf } from '../core/reason.ts'
import type { Violation } from '../core/refusal.ts'

/**
 * What becomes of texts on their way to the store or gateway and back: the one place where they are encrypted or
 * compressed. Everything below sees what `encode` made, and nothing else: sizes and digests on the record are of that.
 */
export interface BodyCodec {
  /**
   * The same text about the same thing gives the same: that is how a repetition is recognised. What comes out must be
   * JSON: a string will do.
   */
  encode(text: string, about: BodyAbout): string
  /** Throws `Undecipherable` where the text is about something else, altered, or not to be read with what is here. */
  decode(text: string, about: BodyAbout): string
  /** Encoders with former keys: a request may be repeated after a change of keys, and is recognised by its former text. */
  readonly formerly?: readonly Pick<BodyCodec, 'encode'>[] | undefined
}

/** What a text is: one that is moved to another place must not be readable there. */
export interface BodyAbout {
  readonly tenant: string
  /** The id its producer chose, else the one it was given. */
  readonly job: string
  /** `input`, `output`, `step/<name>`, …; `signal`; or the kind of prose: `failure`, `progress`, `reason`. */
  readonly body: string
}

/** A text that is not ours to read: about something else, altered, or written with a key we do not have. */
export class Undecipherable extends Error {
  override readonly name = 'Undecipherable'
}

/** A text that cannot be written: the codec failed. */
export class Unencodable extends Error {
  override readonly name = 'Unencodable'
  readonly violation: Violation

  constructor({ body }: BodyAbout, why: string) {
    super(`${body}: the codec failed: ${why}`)
    this.violation = { field: body, rule: `the codec failed: ${why}` }
  }
}

/** A codec is somebody else's: it may throw anything, or answer with no text. Either harms that text only, by its name. */
export function encoded(codec: Pick<BodyCodec, 'encode'>, text: string, about: BodyAbout): string {
  let made: unknown
  try {
    made = codec.encode(text, about)
  } catch (error) {
    throw new Unencodable(about, reasonOf(error))
  }
  if (typeof made !== 'string') throw new Unencodable(about, `encode answered with a ${typeof made}, not with text`)
  return made
}

export function decoded(codec: Pick<BodyCodec, 'decode'>, text: string, about: BodyAbout): string {
  let made: unknown
  try {
    made = codec.decode(text, about)
  } catch (error) {
    throw error instanceof Undecipherable ? error : new Undecipherable(cannotRead(about, reasonOf(error)))
  }
  if (typeof made !== 'string') {
    throw new Undecipherable(cannotRead(about, `decode answered with a ${typeof made}, not with text`))
  }
  return made
}

const cannotRead = ({ body, job }: BodyAbout, why: string): string =>
  `The text ${body} of job ${job} cannot be read: the codec failed: ${why}`
