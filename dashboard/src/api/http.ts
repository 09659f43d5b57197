/** Requests to the gateway this page came from. What is refused is thrown as the problem it is, with what to do next. */
import { jsonText, parsed } from '../words/json.ts'
import { reached, unreached } from './connection.ts'

export interface ProblemBody {
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly next: string
  readonly requestId?: string
}

export class Problem extends Error {
  override readonly name = 'Problem'
  readonly body: ProblemBody

  constructor(body: ProblemBody) {
    super(body.detail)
    this.body = body
  }
}

/** Where the dashboard is mounted. */
export const BASE = document.querySelector<HTMLMetaElement>('meta[name="pawl-base"]')?.content ?? ''

const CSRF = 'X-Pawl-Csrf'
let csrf: string | undefined
export const carryCsrf = (token: string | undefined): void => {
  csrf = token
}

const signedOut = new Set<() => void>()
/** Called when a request finds that nobody is signed in any more. */
export function onSignedOut(listener: () => void): () => void {
  signedOut.add(listener)
  return () => signedOut.delete(listener)
}

/** How far the store's clock is ahead of this browser's: every answer tells it. */
let aheadMs = 0
export const serverNow = (): number => Date.now() + aheadMs

export interface Words {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly body?: unknown
  /** Numbers of many digits are read as they are written; whoever shows or sends them knows of `Digits`. */
  readonly isExact?: boolean
  readonly token?: string
  readonly signal?: AbortSignal
}

export async function ask<T>(
  path: string,
  { method = 'GET', body, isExact = false, token, signal }: Words = {},
): Promise<T> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (body !== undefined || method === 'POST') headers['content-type'] = 'application/json'
  if (method !== 'GET' && csrf !== undefined) headers[CSRF] = csrf
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`
  const text = method === 'GET' || method === 'DELETE' ? undefined : jsonText(body ?? {})
  const response = await answered(BASE + path, {
    method,
    headers,
    ...(text === undefined ? {} : { body: text }),
    ...(signal === undefined ? {} : { signal }),
  })
  const now = Number(response.headers.get('x-pawl-now'))
  if (now > 0) aheadMs = now - Date.now()
  if (response.ok) return (isExact ? parsed(await response.text()) : await response.json()) as T
  const problem = await problemIn(response)
  if (problem.body.status === 401 && token === undefined) for (const listener of signedOut) listener()
  throw problem
}

async function answered(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init)
    reached('requests')
    return response
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    unreached('requests')
    throw new Problem({
      title: 'The gateway does not answer',
      status: 0,
      detail: 'The connection is lost, or the gateway has stopped.',
      code: 'UNREACHABLE',
      next: 'It is asked again by itself; look whether its process runs.',
    })
  }
}

async function problemIn(response: Response): Promise<Problem> {
  const requestId = response.headers.get('x-request-id') ?? ''
  try {
    return new Problem({ ...((await response.json()) as ProblemBody), requestId })
  } catch {
    const { status, statusText } = response
    return new Problem({
      title: statusText,
      status,
      detail: `The gateway answered ${status}.`,
      code: String(status),
      next: 'Try again.',
      requestId,
    })
  }
}

/** A query string without what is empty. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

/** A name as one segment of a path. */
export const segment = (name: string): string => encodeURIComponent(name)
