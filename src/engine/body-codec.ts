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
  /** As it would have been encoded by whatever else can be decoded: a repetition may come after a change of keys. */
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
