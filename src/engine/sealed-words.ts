/** Words with everything that a user wrote sealed: the texts they carry, and their prose; and the way back. */
import { bodyRef, errorBody } from '../core/body.ts'
import type { Fault } from '../core/command.ts'
import { parseFence } from '../core/fence.ts'
import { digest } from '../core/hash.ts'
import type { BodyRef, Failure } from '../core/job.ts'
import { LENGTHS } from '../core/limits.ts'
import type { Body } from '../store/store.ts'
import type { BodyCodec } from './body-codec.ts'
import type { Word } from './engine.ts'
import { type Reader, withProseBy } from './prose.ts'
import {
  cut,
  type Heading,
  isSealedProse,
  type Prose,
  type Sayable,
  sayable,
  sealBody,
  sealProse,
  unsealProse,
  type Whose,
} from './sealing.ts'

type Encoder = Pick<BodyCodec, 'encode'>

/** Whether there is anything to seal. */
export const needsSealing = ({ command, bodies }: Word): boolean =>
  (bodies !== undefined && bodies.length > 0) || hasProse(command)

function hasProse(command: Word['command']): boolean {
  switch (command.type) {
    case 'fail':
      return true
    case 'deadLetter':
      return command.message !== undefined
    case 'progress':
      return command.progress?.message !== undefined
    case 'cancel':
    case 'deny':
    case 'approve':
    case 'reopen':
      return command.reason !== undefined
    default:
      return false
  }
}

export function sealedWord(encoder: Encoder, word: Word, whose: Whose): Word {
  const heading = headingOf(word)
  const { command } = word
  const bodies = longStory(word).map((body) => sealBody(encoder, body, whose, heading))
  const prose = (kind: Prose, said: Sayable, max: number) =>
    sealProse(encoder, said, max, { ...whose, body: kind }, heading)
  return { ...word, bodies, command: sealedCommand(command, bodies[0], prose) }
}

/** The last word under a lease is the same word whatever its request is called; any other is its request. */
function headingOf({ command }: Word): Heading {
  const { type, requestId } = command
  const generation = 'fence' in command ? (parseFence(command.fence ?? '')?.generation ?? 0) : 0
  const word = digest(type === 'complete' || type === 'fail' ? command.fence : requestId)
  return type === 'signal'
    ? { generation, word, signal: { name: command.name, key: command.key } }
    : { generation, word }
}

type SealProse = (kind: Prose, said: Sayable, max: number) => string

function sealedCommand(command: Word['command'], body: Body | undefined, prose: SealProse): Word['command'] {
  switch (command.type) {
    case 'complete':
      return { ...command, result: refTo(body, command.result) }
    case 'checkpoint':
      return { ...command, body: refTo(body, command.body) ?? command.body }
    case 'record':
      return { ...command, step: command.step && { ...command.step, body: refTo(body, command.step.body) } }
    case 'signal':
      return { ...command, body: refTo(body, command.body) }
    case 'fail': {
      const { message, context } = command.fault
      const sealed = prose('failure', failure(message, context), LENGTHS.message)
      return {
        ...command,
        fault: { ...command.fault, message: sealed, context: undefined, body: refTo(body, undefined) },
      }
    }
    case 'deadLetter': {
      const { message } = command
      return { ...command, message: ifAny(message, (text) => prose('failure', failure(text), LENGTHS.message)) }
    }
    case 'progress': {
      const { progress } = command
      const message = ifAny(progress?.message, (text) => prose('progress', sayable(text), LENGTHS.entry))
      return { ...command, progress: progress && { ...progress, message } }
    }
    case 'cancel':
    case 'deny':
    case 'approve':
    case 'reopen':
      return { ...command, reason: ifAny(command.reason, (text) => prose('reason', sayable(text), LENGTHS.message)) }
    default:
      return command
  }
}

/** An empty text is sealed like any other: that it is empty is nobody's business. */
const ifAny = (text: string | undefined, then: (text: string) => string): string | undefined =>
  text === undefined ? undefined : then(text)

/** Size and digest are those of the sealed text. A reference to a text that is not there says nothing about it. */
const refTo = (body: Body | undefined, was: BodyRef | undefined): BodyRef | undefined =>
  body === undefined
    ? was && { name: was.name, size: 0, digest: undefined }
    : bodyRef(was?.name ?? body.name, body.text)

/** Where message and context do not both fit, the context is dropped: the error's body has it. */
const failure = (message: string, context?: Fault['context']): Sayable => ({
  length: message.length + 1,
  within: (room) => JSON.stringify(room > message.length ? { message, context } : { message: cut(message, room) }),
})

/** The texts of a word; of a failure, also what its record may have no room for. */
function longStory({ command, bodies = [] }: Word): readonly Body[] {
  if (command.type !== 'fail') return bodies
  const { message, context } = command.fault
  const [body] = bodies
  if (body !== undefined && context === undefined) return bodies
  const fields: unknown = body === undefined ? { message } : JSON.parse(body.text)
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return bodies
  const name = body?.name ?? errorBody(parseFence(command.fence)?.attempt ?? 0)
  return [{ name, text: JSON.stringify({ ...fields, context }) }]
}

/** Whether any prose in it is sealed. */
export function isSealed(it: object): boolean {
  let found = false
  const look = (text: string): string => {
    found ||= isSealedProse(text)
    return text
  }
  const failure = (it: Failure): Failure => {
    look(it.message)
    return it
  }
  withProseBy(it, { reason: look, progress: look, failure })
  return found
}

export const readerWith = (codec: BodyCodec, whose: Whose): Reader => {
  const read = (kind: Prose) => (text: string) => {
    const found = unsealProse(codec, text, { ...whose, body: kind })
    return 'said' in found ? found.said : found.why
  }
  return { reason: read('reason'), progress: read('progress'), failure: (it) => openedFailure(codec, it, whose) }
}

function openedFailure(codec: BodyCodec, it: Failure, whose: Whose): Failure {
  if (!isSealedProse(it.message)) return it
  const found = unsealProse(codec, it.message, { ...whose, body: 'failure' })
  if ('why' in found) return { ...it, message: found.why }
  if (found.said === it.message) return it
  const { message, context } = JSON.parse(found.said) as Pick<Failure, 'message' | 'context'>
  return { ...it, message, context }
}
