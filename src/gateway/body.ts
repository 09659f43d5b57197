/** Reading a request's body: bounded in bytes, depth and number before anything is parsed. */
import type { z } from 'zod'
import type { Violation } from '../core/refusal.ts'
import type { Share } from './allowance.ts'
import { beyond, type Caps } from './caps.ts'
import { type Kept, type Misfit, outlineOf } from './contract/outline.ts'
import { BODY_BYTES, type Route } from './contract/route.ts'
import { Objected, objection } from './problem.ts'

export interface Understood {
  readonly value: unknown
  readonly kept: Kept
}

/** The text of a body, as far as it may be one. `share` is what the bytes under way are counted in. */
export async function readBody(request: Request, route: Route, caps: Caps, share: Share): Promise<string> {
  const type = (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  const encoding = (request.headers.get('content-encoding') ?? 'identity').trim().toLowerCase()
  if (encoding !== 'identity') throw new Objected(objection('MEDIA_TYPE', 'The body must not be compressed.'))
  const text = await textOf(request, route, caps, share)
  if (text !== '' && type !== 'application/json') throw new Objected(objection('MEDIA_TYPE'))
  return text
}

const NOTHING: Understood = { value: {}, kept: new Map() }

/** Parses a body, without the members that are kept as they were sent. */
export function understood(text: string, { kept }: Route, caps: Caps): Understood {
  if (text === '') return NOTHING
  const outline = outlineOf(text, kept, { depth: caps.bodyDepth, keys: caps.bodyKeys })
  if (!outline.ok) throw MISFITS[outline.misfit](caps, outline.where)
  return { value: JSON.parse(outline.text), kept: outline.kept }
}

const MISFITS: Readonly<Record<Misfit, (caps: Caps, where: string) => Objected>> = {
  'not json': () => new Objected(objection('MALFORMED', 'The body is not JSON.')),
  twice: (_, where) => new Objected(objection('MALFORMED', `The body has ${where} twice.`)),
  'too deep': (caps) => beyond('bodyDepth', caps),
  'too many': (caps) => beyond('bodyKeys', caps),
}

/** Bytes of each body that are not counted: a word of an owner is heard however much others are sending. */
const UNCOUNTED_BYTES = 16 * 1024

async function textOf(request: Request, { size }: Route, caps: Caps, share: Share): Promise<string> {
  const most = size === 'payload' ? caps.bodyBytes : Math.min(caps.bodyBytes, BODY_BYTES[size])
  const tooLarge = () => beyond('bodyBytes', caps, { detail: `The body may have ${most} bytes here.` })
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > most) throw tooLarge()
  // Counted as it comes, but there must be room for all of it: who is turned away has sent nothing in vain.
  if (announced > UNCOUNTED_BYTES) share.ask(announced - UNCOUNTED_BYTES)
  if (request.body === null) return ''
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let bytes = 0
  let text = ''
  try {
    for await (const chunk of request.body) {
      bytes += chunk.byteLength
      if (bytes > most) throw tooLarge()
      share.take(Math.max(0, Math.min(chunk.byteLength, bytes - UNCOUNTED_BYTES)))
      text += decoder.decode(chunk, { stream: true })
    }
    return text + decoder.decode()
  } catch (error) {
    if (error instanceof Objected) throw error
    throw new Objected(objection('MALFORMED', 'The body could not be read to its end as UTF-8.'))
  }
}

/** The value as the schema makes it; throws every violation with a pointer to its place. */
export function parsed(schema: z.ZodType, value: unknown, where: string): Readonly<Record<string, unknown>> {
  const result = schema.safeParse(value)
  if (result.success) return result.data as Readonly<Record<string, unknown>>
  throw new Objected(objection('MALFORMED', `${where} breaks a rule.`, violationsOf(result.error, where)))
}

export const violationsOf = (error: z.ZodError, where: string): readonly Violation[] =>
  error.issues.slice(0, 100).map(({ path, message }) => ({
    field: [where, ...path.map((part) => String(part).slice(0, 64))].join('.'),
    rule: message,
  }))
