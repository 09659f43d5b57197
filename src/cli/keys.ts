/** The keys of encrypted jobs, from the file that `--keys-file` names. */

import type { BodyCodec } from '../engine/body-codec.ts'
import { aesGcm } from '../library/encryption.ts'
import { failureOf, Usage } from './exit.ts'
import { contentOf } from './secrets.ts'

/** `{ "current": "2026", "keys": { "2026": "<base64 of 32 bytes>" } }`. What is wrong with it is said without a key. */
export function codecFrom(file: string): BodyCodec {
  const { current, keys } = keysIn(file, contentOf('--keys-file', file))
  try {
    const bytes = Object.entries(keys).map(([id, key]) => [id, Buffer.from(key, 'base64')] as const)
    return aesGcm({ keys: Object.fromEntries(bytes), current })
  } catch (error) {
    throw new Usage(`${file}: ${failureOf(error).message}`, 'A key is 32 random bytes: openssl rand -base64 32')
  }
}

function keysIn(file: string, text: string): { current: string; keys: Readonly<Record<string, string>> } {
  const shape = `{ "current": "<id>", "keys": { "<id>": "<base64>" } }`
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new Usage(`${file} is not JSON.`, `It should be ${shape}.`)
  }
  if (isObject(parsed) && typeof parsed['current'] === 'string' && isObject(parsed['keys'])) {
    const { current, keys } = parsed
    if (Object.values(keys).every((key) => typeof key === 'string'))
      return { current, keys: keys as Readonly<Record<string, string>> }
  }
  throw new Usage(`${file} does not hold keys.`, `It should be ${shape}.`)
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
