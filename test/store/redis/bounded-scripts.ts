import { ledgeredTexts, recordedTexts, type ScriptName } from '../../../src/store/redis/script/scripts.ts'

/** The scripts of a store with a ledger, where so few entries may wait for it that they do. */
export function boundedScripts(unshipped: number): Readonly<Record<ScriptName, string>> {
  const texts = Object.entries(recordedTexts()).map(([name, text]) => [
    name,
    text.replace('logged - shipped >= 100000 * patience', `logged - shipped >= ${unshipped} * patience`),
  ])
  return ledgeredTexts(Object.fromEntries(texts))
}
