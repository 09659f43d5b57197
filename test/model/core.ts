/** The core under examination: the shipped one, or one in a copy of the sources with one line changed. */
import type { decide, decideTick } from '../../src/core/decide.ts'
import type { evolve } from '../../src/core/evolve.ts'
import type { keyChange } from '../../src/core/keys.ts'

export interface Core {
  readonly decide: typeof decide
  readonly decideTick: typeof decideTick
  readonly evolve: typeof evolve
  readonly keyChange: typeof keyChange
}

/** The sources that are examined. */
export const SHIPPED = new URL('../../src/', import.meta.url)

export async function loadCore(at: URL): Promise<Core> {
  const load = (file: string) => import(new URL(`core/${file}`, at).href)
  const [heart, fold, keys] = await Promise.all([load('decide.ts'), load('evolve.ts'), load('keys.ts')])
  return { decide: heart.decide, decideTick: heart.decideTick, evolve: fold.evolve, keyChange: keys.keyChange }
}
