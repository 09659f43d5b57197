/**
 * Sealed texts. Before the text stands a line that says to what it is bound besides tenant, job and name: the generation
 * it was said in, the word it came with, and what a signal was called. The word is why the same text said twice does not
 * look the same, and a word that is repeated does.
 */
import { reasonOf } from '../core/reason.ts'
import type { Body, SignalName } from '../store/store.ts'
import { type BodyAbout, type BodyCodec, decoded, encoded, Undecipherable } from './body-codec.ts'

export interface Heading {
  readonly generation: number
  readonly word: string
  readonly signal?: SignalName | undefined
}

/** The job, tenant and type that a text belongs to. */
export type Whose = Omit<BodyAbout, 'body'>

type Encoder = Pick<BodyCodec, 'encode'>

const MARK = 'pawl '

type Line = readonly [generation: number, word: string, signal?: string, key?: string | null]

export function seal(encoder: Encoder, text: string, about: BodyAbout, { generation, word, signal }: Heading): string {
  const line: Line = signal === undefined ? [generation, word] : [generation, word, signal.name, signal.key ?? null]
  return encoded(encoder, `${MARK}${JSON.stringify(line)}\n${text}`, about)
}

export interface Unsealed {
  readonly text: string
  /** Undefined where the text was not sealed and the codec lets that pass. */
  readonly heading: Heading | undefined
}

export function unseal(codec: BodyCodec, sealed: string, about: BodyAbout): Unsealed {
  const text = decoded(codec, sealed, about)
  if (!text.startsWith(MARK)) return { text, heading: undefined }
  const end = text.indexOf('\n')
  const [generation, word, name, key] = JSON.parse(text.slice(MARK.length, end)) as Line
  const signal = name === undefined ? undefined : { name, key: key ?? undefined }
  return { text: text.slice(end + 1), heading: { generation, word, signal } }
}

export const isSignal = (name: string): boolean => name.startsWith('signal')

/** A signal gets its number when it is accepted, so all of a job's have one name here, and are told apart by their heading. */
export const aboutBody = (whose: Whose, name: string): BodyAbout => ({
  ...whose,
  body: isSignal(name) ? 'signal' : name,
})

export const sealBody = (encoder: Encoder, { name, text }: Body, whose: Whose, heading: Heading): Body => ({
  name,
  text: seal(encoder, text, aboutBody(whose, name), heading),
})

/** How a wait ended is written by core, which has no key; it says which signal came, not what it said. */
const MEMO = /^\{"(?:signal":\d+|timedOut":true)\}$/

/** `generation`: the job's. A text that claims to be of a later one was not written by this job. */
export function unsealBody(codec: BodyCodec, { name, text }: Body, whose: Whose, generation: number): Unsealed {
  if (name.startsWith('step/') && MEMO.test(text)) return { text, heading: undefined }
  const unsealed = unseal(codec, text, aboutBody(whose, name))
  if ((unsealed.heading?.generation ?? 0) <= generation) return unsealed
  throw new Undecipherable(
    `${name} of job ${whose.job} was written in generation ${unsealed.heading?.generation}, and the job is in generation ${generation}: the store has been altered, or is older than what is in it.`,
  )
}

/** Sealed prose, where it stands among words that are not. */
const PROSE = 'sealed '

export type Prose = 'failure' | 'progress' | 'reason'

/** Words that can be said with less room. */
export interface Sayable {
  readonly length: number
  within(room: number): string
}

export const sayable = (text: string): Sayable => ({ length: text.length, within: (room) => cut(text, room) })

export const cut = (text: string, room: number): string =>
  room >= text.length ? text : `${text.slice(0, room).toWellFormed()}…`

/** Seals prose into at most `max` letters: what does not fit is cut before it is sealed, and dropped where nothing fits. */
export function sealProse(encoder: Encoder, said: Sayable, max: number, about: BodyAbout, heading: Heading): string {
  for (let room = said.length; room >= 0; ) {
    const sealed = PROSE + seal(encoder, said.within(room), about, heading)
    if (sealed.length <= max) return sealed
    room = Math.min(room - 1, Math.floor((room * max) / sealed.length) - 1)
  }
  return ''
}

/** Opens prose. Where it cannot be opened a sentence says so in its place: one record must not fail a whole page. */
export function unsealProse(
  codec: BodyCodec,
  text: string,
  about: BodyAbout,
): { readonly said: string } | { readonly why: string } {
  if (!isSealedProse(text)) return { said: text }
  try {
    const unsealed = unseal(codec, text.slice(PROSE.length), about)
    // The codec lets unsealed texts pass: this one merely begins like a sealed one.
    return { said: unsealed.heading === undefined ? text : unsealed.text }
  } catch (error) {
    return { why: `(${reasonOf(error)})` }
  }
}

export const isSealedProse = (text: string): boolean => text.startsWith(PROSE)

/** For logs, which nobody opens. */
export const shownProse = (text: string): string => (isSealedProse(text) ? '(encrypted)' : text)
