/**
 * What a job needs of who claims it, as one text, so that stores can keep those apart who need different things without knowing
 * what: a set of words. A type is a word by itself; a pool and what somebody can do have a tab in theirs, which no name has.
 * A claim serves a need when it serves each of its words.
 */
export interface Need {
  readonly type: string | undefined
  /** Where routing has sent it. */
  readonly pool: string | undefined
  /** What its worker must be able to do. */
  readonly capabilities: readonly string[]
}

/** Where a job is sent when it is let in, and what it asks for there. */
export type Route = Pick<Need, 'pool' | 'capabilities'>

const POOL = 'pool\t'
const CAN = 'can\t'
/** Among the words of a claim: whatever the type. */
const ANY_TYPE = '\t'

/** Whether routing has sent it anywhere. */
export const isRouted = ({ pool, capabilities }: Route): boolean => pool !== undefined || capabilities.length > 0

/** Where and what, as the end of a sentence about a worker: ` in pool code can do gpu`. */
export const routeText = ({ pool, capabilities }: Route): string => whereText(pool) + whatText(capabilities)

export const whereText = (...pools: readonly (string | undefined)[]): string =>
  pools[0] === undefined ? '' : ` in pool ${pools.join(' or ')}`

export const whatText = (capabilities: readonly string[]): string =>
  capabilities.length === 0 ? '' : ` can do ${capabilities.join(' and ')}`

/** Undefined where nothing is needed. The same need is the same text, in whichever order it was said. */
export function needText({ type, pool, capabilities }: Need): string | undefined {
  const words = wordsOf(pool, [...new Set(capabilities)].sort())
  if (type !== undefined) words.unshift(type)
  return words.length === 0 ? undefined : words.join('\n')
}

export function needOf(text: string | undefined): Need {
  const words = text === undefined ? [] : text.split('\n')
  return {
    type: words.find(isType),
    pool: words.find((word) => word.startsWith(POOL))?.slice(POOL.length),
    capabilities: words.filter((word) => word.startsWith(CAN)).map((word) => word.slice(CAN.length)),
  }
}

/** What it needs once it also needs its type. */
export function withType(needs: string | undefined, type: string): string {
  const { pool, capabilities } = needOf(needs)
  return [type, ...wordsOf(pool, capabilities)].join('\n')
}

/** What it needs once nobody has sent it anywhere. */
export const withoutRoute = (needs: string | undefined): string | undefined => needOf(needs).type

/** What somebody who claims says of itself. */
export interface Able {
  readonly pool: string | undefined
  readonly capabilities: readonly string[] | undefined
}

/** Words that a claim serves. Undefined: whatever the type, and nothing that was sent anywhere. */
export function servedWords(
  types: readonly string[] | undefined,
  { pool, capabilities = [] }: Able,
): readonly string[] | undefined {
  const words = wordsOf(pool, capabilities)
  return words.length === 0 ? types : [...(types ?? [ANY_TYPE]), ...words]
}

/** Whether they are types and nothing else, so that a need is served if it is one of them. */
export const areTypes = (words: readonly string[]): boolean => words.every(isType)

/** Whether a need is served by somebody of these words. */
export function servedBy(words: readonly string[] | undefined): (need: string) => boolean {
  if (words === undefined) return isType
  const served = new Set(words)
  const isServed = (word: string) => served.has(word) || (served.has(ANY_TYPE) && isType(word))
  return (need) => need.split('\n').every(isServed)
}

const isType = (word: string): boolean => !word.includes('\t')

function wordsOf(pool: string | undefined, capabilities: readonly string[]): string[] {
  const words = capabilities.map((each) => CAN + each)
  if (pool !== undefined) words.unshift(POOL + pool)
  return words
}
