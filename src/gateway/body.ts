/** Reading a request's body: bounded in bytes, depth and number before anything is parsed. */
import type { z } from 'zod'
import { JSON_DEPTH_MAX } from '../core/json.ts'
import type { Violation } from '../core/refusal.ts'
import { type Kept, type Misfit, outlineOf } from './contract/outline.ts'
import { BODY_BYTES, type Route } from './contract/routes.ts'
import { Objected, objection } from './problem.ts'

export interface BodyLimits {
  /** Of a body with something in it that is kept as it is; others have smaller ones of their own. */
  readonly bytes: number
  readonly depth: number
  /** Members and elements outside of what is kept as it is. */
  readonly keys: number
}

export const DEFAULT_LIMITS: BodyLimits = { bytes: 8 * 1024 * 1024, depth: JSON_DEPTH_MAX, keys: 50_000 }

export interface Understood {
  readonly value: unknown
  readonly kept: Kept
}

export async function readBody(request: Request, route: Route, limits: BodyLimits): Promise<Understood> {
  const type = (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  const encoding = (request.headers.get('content-encoding') ?? 'identity').trim().toLowerCase()
  if (encoding !== 'identity') throw new Objected(objection('MEDIA_TYPE', 'The body must not be compressed.'))
  const text = await textOf(request, bytesFor(route, limits))
  if (text === '') return { value: {}, kept: new Map() }
  if (type !== 'application/json') throw new Objected(objection('MEDIA_TYPE'))
  return understood(text, route, limits)
}

const bytesFor = ({ size }: Route, { bytes }: BodyLimits): number =>
  size === 'payload' ? bytes : Math.min(bytes, BODY_BYTES[size])

/** What the text says, but for what is kept as it is. */
export function understood(text: string, { kept }: Pick<Route, 'kept'>, limits: BodyLimits): Understood {
  const outline = outlineOf(text, kept, limits)
  if (!outline.ok) throw new Objected(MISFITS[outline.misfit](limits, outline.where))
  return { value: JSON.parse(outline.text), kept: outline.kept }
}

const MISFITS: Readonly<Record<Misfit, (limits: BodyLimits, where: string) => ReturnType<typeof objection>>> = {
  'not json': () => objection('MALFORMED', 'The body is not JSON.'),
  twice: (_, where) => objection('MALFORMED', `The body has ${where} twice.`),
  'too deep': ({ depth }) => objection('TOO_LARGE', `The body may be nested ${depth} deep.`),
  'too many': ({ keys }) => objection('TOO_LARGE', `The body may have ${keys} members and elements.`),
}

async function textOf(request: Request, most: number): Promise<string> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > most) throw new Objected(objection('TOO_LARGE', `The body may have ${most} bytes.`))
  if (request.body === null) return ''
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let bytes = 0
  let text = ''
  try {
    for await (const chunk of request.body) {
      bytes += chunk.byteLength
      if (bytes > most) throw new Objected(objection('TOO_LARGE', `The body may have ${most} bytes.`))
      text += decoder.decode(chunk, { stream: true })
    }
    return text + decoder.decode()
  } catch (error) {
    if (error instanceof Objected) throw error
    throw new Objected(objection('MALFORMED', 'The body could not be read to its end as UTF-8.'))
  }
}

/** As the schema makes it, or every violation with a pointer to its place. */
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
