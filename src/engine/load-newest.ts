/** Jobs with their bodies, `input` being the one they run with: where a duplicate has replaced it, that is another body. */
import type { LoadAnswer, Loaded, LoadItem, Store } from '../store/store.ts'

export async function loadNewest(store: Pick<Store, 'load'>, items: readonly LoadItem[]): Promise<LoadAnswer> {
  const answer = await store.load(items)
  const places = items.flatMap((item, i) => (isReplaced(item, answer.items[i]) ? [i] : []))
  if (places.length === 0) return answer
  const newest = await store.load(places.map((i) => ({ id: answer.items[i]?.job.id ?? '', bodies: ['replaced'] })))
  const found = [...answer.items]
  for (const [n, i] of places.entries()) {
    const loaded = found[i]
    const input = newest.items[n]?.bodies['replaced']
    if (loaded !== undefined && input !== undefined) found[i] = { ...loaded, bodies: { ...loaded.bodies, input } }
  }
  return { now: newest.now, items: found }
}

const isReplaced = ({ bodies }: LoadItem, loaded: Loaded | undefined): boolean =>
  loaded?.job.newer?.input !== undefined && bodies?.includes('input') === true
