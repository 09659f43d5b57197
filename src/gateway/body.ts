/** Reading a request's body: bounded in bytes, depth and keys before anything is parsed. */
import type { z } from 'zod'
import type { Violation } from '../core/refusal.ts'
import { shapeOf } from './contract/raw-json.ts'
import { Objected, objection } from './problem.ts'

export interface BodyLimits {
  readonly bytes: number
  readonly depth: number
  readonly keys: number
}

export const DEFAULT_LIMITS: BodyLimits = { bytes: 8 * 1024 * 1024, depth: 100, keys: 200_000 }

/** The text, and what it says. */
export async function readBody(
  request: Request,
  limits: BodyLimits,
): Promise<{ readonly raw: string; readonly value: unknown }> {
  const type = (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  const encoding = (request.headers.get('content-encoding') ?? 'identity').trim().toLowerCase()
  if (encoding !== 'identity') throw new Objected(objection('MEDIA_TYPE', 'The body must not be compressed.'))
  const raw = await bounded(request, limits.bytes)
  if (raw === '') return { raw: '{}', value: {} }
  if (type !== 'application/json') throw new Objected(objection('MEDIA_TYPE'))
  const { depth, keys } = shapeOf(raw)
  if (depth > limits.depth)
    throw new Objected(objection('TOO_LARGE', `The body is nested ${depth} deep; ${limits.depth} are allowed.`))
  if (keys > limits.keys)
    throw new Objected(objection('TOO_LARGE', `The body has ${keys} keys; ${limits.keys} are allowed.`))
  try {
    return { raw, value: JSON.parse(raw) }
  } catch {
    throw new Objected(objection('MALFORMED', 'The body is not JSON.'))
  }
}

async function bounded(request: Request, most: number): Promise<string> {
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
