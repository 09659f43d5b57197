/**
 * How much work something is, as a number that does not depend on the machine: how often each block of JavaScript ran,
 * by V8's own precise coverage, and besides how many elements the built-ins walked over that no block is entered for.
 * To be imported before whatever is counted: blocks are counted in code that is compiled afterwards.
 */
import { Session } from 'node:inspector/promises'

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

let walked = 0

/** Forgets what was done until now. To read the counters takes ten thousand times as long as a step. */
export async function settled(): Promise<void> {
  await session.post('Profiler.takePreciseCoverage')
  walked = 0
}

/** Steps taken by `work` and whatever else went on since the last count: the caller sees to it that this is nothing. */
export async function steps(work: () => unknown): Promise<number> {
  await work()
  const elements = walked
  const { result } = await session.post('Profiler.takePreciseCoverage')
  let entered = 0
  for (const { functions, url } of result) {
    if (url === import.meta.url) continue
    for (const { ranges } of functions) for (const { count } of ranges) entered += count
  }
  // To count is to walk, too.
  walked = 0
  return entered + elements
}

/** Built-ins that look at elements without entering a block for them, and at how many. */
const WALKERS: Readonly<
  Record<string, (list: readonly unknown[], words: readonly unknown[], made: unknown) => number>
> = {
  indexOf: (list) => list.length,
  includes: (list) => list.length,
  lastIndexOf: (list) => list.length,
  join: (list) => list.length,
  shift: (list) => list.length,
  unshift: (list) => list.length,
  concat: (_, __, made) => (made as readonly unknown[]).length,
  slice: (_, __, made) => (made as readonly unknown[]).length,
  splice: (list, [start]) => Math.max(0, list.length - Number(start)),
}

for (const [name, count] of Object.entries(WALKERS)) {
  const walk = Array.prototype[name as 'indexOf'] as (...words: unknown[]) => unknown
  Object.defineProperty(Array.prototype, name, {
    configurable: true,
    writable: true,
    value(this: readonly unknown[], ...words: unknown[]) {
      const made = walk.apply(this, words)
      walked += count(this, words, made)
      return made
    },
  })
}

for (const name of ['keys', 'values', 'entries'] as const) {
  const list = Object[name] as (of: object) => readonly unknown[]
  Object[name] = ((of: object) => {
    const found = list(of)
    walked += found.length
    return found
  }) as never
}

/** `[...list, one]` and `for … of`: a spread asks for this where it is not the one that V8 knows. */
const iterate = Array.prototype[Symbol.iterator]
Object.defineProperty(Array.prototype, Symbol.iterator, {
  configurable: true,
  writable: true,
  value(this: readonly unknown[]) {
    walked += this.length
    return iterate.call(this)
  },
})
