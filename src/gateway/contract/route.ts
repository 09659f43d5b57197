/** What a route is made of, and the few shapes that most of them have. */
import type { z } from 'zod'
import type { Opaque } from './outline.ts'
import { nothing } from './queries.ts'
import type { SCOPES } from './token-schema.ts'

export type Scope = (typeof SCOPES)[number]

/** What is given up first when there is too much to do: `list`, then `enqueue`, then `claim`; `owner` never. */
export type Urgency = 'owner' | 'claim' | 'enqueue' | 'list' | 'health'

/** Words alone, lists of names, or what users send to be kept: the largest there are is an operator's to set. */
export type BodySize = keyof typeof BODY_BYTES | 'payload'

/** Room for the longest words of each, every letter of them escaped. */
export const BODY_BYTES = { words: 128 * 1024, lists: 1024 * 1024 } as const

export interface Route {
  /** Unique; the handler has the same name. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `{name}` is one segment. */
  readonly path: string
  /** Scopes of tokens that may call it; `open`: without any. */
  readonly scopes: readonly Scope[] | 'open'
  readonly urgency: Urgency
  readonly summary: string
  readonly query: z.ZodType
  readonly body: z.ZodType | undefined
  /** Members of the body that are kept exactly as they were sent, and never parsed here. */
  readonly kept: Opaque | undefined
  /** Which cap bounds the body. */
  readonly size: BodySize
  /** The member of the body that is a list of what there is to do, or a text to be understood; counted where the token is rationed. */
  readonly items: 'jobs' | 'transitions' | 'text' | undefined
  /** Reads much: a few of these are under way at a time, by turns. */
  readonly isHeavy: boolean
  /** Statuses it answers with besides the errors all routes share. */
  readonly answers: Readonly<Record<number, string>>
}

export const READERS = ['producer', 'operator', 'viewer', 'admin'] as const
export const OPERATORS = ['operator', 'admin'] as const
export const WORKERS = ['worker', 'admin'] as const
export const PRODUCERS = ['producer', 'admin'] as const

const BARE = {
  body: undefined,
  kept: undefined,
  size: 'words',
  items: undefined,
  isHeavy: false,
  answers: { 200: 'OK' },
} as const satisfies Partial<Route>

/** A route that reads one thing. */
export const get = (
  name: string,
  path: string,
  scopes: Route['scopes'],
  summary: string,
  query: z.ZodType = nothing,
): Route => ({ ...BARE, name, method: 'GET', path, scopes, urgency: 'list', summary, query })

/** Many of them, page by page, or what is made of many. */
export const list = (
  name: string,
  path: string,
  scopes: Route['scopes'],
  summary: string,
  query: z.ZodType,
): Route => ({
  ...get(name, path, scopes, summary, query),
  isHeavy: true,
})

export const post = (
  name: string,
  path: string,
  scopes: Route['scopes'],
  urgency: Urgency,
  summary: string,
  body: z.ZodType,
  kept?: Opaque,
): Route => ({
  ...BARE,
  name,
  method: 'POST',
  path,
  scopes,
  urgency,
  summary,
  query: nothing,
  body,
  kept,
  size: kept === undefined ? 'words' : 'payload',
})
