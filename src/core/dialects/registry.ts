/** The six dialects of the five documents. */
import { DIALECT_NAMES, type DialectName } from '../policy.ts'
import { document000A } from './000a.ts'
import { document000B } from './000b.ts'
import { document001 } from './001.ts'
import { document002 } from './002.ts'
import { document003, document003Explicit } from './003.ts'
import { document004 } from './004.ts'
import type { Dialect } from './dialect.ts'

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  '000A': document000A,
  '000B': document000B,
  '001': document001,
  '002': document002,
  '003': document003,
  '004': document004,
}

/** What can be read: the documents, and 003 with every state and word it lists or invites. */
export const READING_NAMES = [...DIALECT_NAMES, '003-explicit'] as const
export type Reading = (typeof READING_NAMES)[number]

export const READINGS: Readonly<Record<Reading, Dialect>> = { ...DIALECTS, '003-explicit': document003Explicit }

/** What people write: `000` alone means its first part, case does not matter. */
export function dialectNamed(text: string): DialectName | undefined {
  const name = text.toUpperCase()
  return DIALECT_NAMES.find((known) => known === (name === '000' ? '000A' : name))
}

export const readingNamed = (text: string): Reading | undefined =>
  READING_NAMES.find((known) => known === text.toLowerCase()) ?? dialectNamed(text)
