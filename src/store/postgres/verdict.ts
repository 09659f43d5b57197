import { assert } from '../../core/assert.ts'
import type { Inserted, KeyPurpose } from '../store.ts'
import type { Row } from './connection.ts'

/** Per item of an enqueue: nothing (inserted), or `by:holder`, or why the database cannot keep it. */
export type Verdict = string | undefined

export interface Verdicts {
  readonly now: number
  readonly verdicts: readonly Verdict[]
}

/**
 * What `enqueue` answers. An id that exists although this very call is the only one to use it was inserted by the try
 * that got no answer.
 */
export function verdictsIn([row]: Row[], again: boolean): Verdicts {
  assert(row !== undefined, 'an enqueue is answered')
  const told = JSON.parse(String(row[1])) as (string | null)[]
  const verdicts = told.map((verdict) =>
    verdict === null || (again && verdict.startsWith('id:')) ? undefined : verdict,
  )
  return { now: Number(row[0]), verdicts }
}

export const rejected = (error: unknown): Verdict => `rejected:${error instanceof Error ? error.message : ''}`

export const holderOf = (verdict: string): number => {
  const number = Number(verdict.slice(verdict.indexOf(':') + 1))
  return Number.isSafeInteger(number) ? number : 0
}

/** Undefined where whoever was first is not among those found. */
export function insertedBy(
  verdict: Verdict,
  found: ReadonlyMap<number, Pick<Extract<Inserted, { by: unknown }>, 'job' | 'input'>>,
): Inserted | undefined {
  if (verdict === undefined) return INSERTED
  const [by = ''] = verdict.split(':', 1)
  if (by === 'rejected') return { status: 'rejected', field: 'job', rule: verdict.slice('rejected:'.length) }
  const there = found.get(holderOf(verdict))
  return there && { status: 'exists', by: by as KeyPurpose | 'id' | 'alias', ...there }
}

export const INSERTED: Inserted = { status: 'inserted' }
