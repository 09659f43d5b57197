/** Down and up a list whose chosen one is looked at beside it, and on to it: the same letters as in the list of jobs. */
import { useKeys } from './keys.ts'

export interface ListKeys {
  /** What there is to choose from, in the order it is shown. */
  readonly names: readonly string[]
  readonly chosen: string | undefined
  readonly onChoose: (name: string) => void
  readonly onOpen: (name: string) => void
}

export function useListKeys({ names, chosen, onChoose, onOpen }: ListKeys): void {
  const at = chosen === undefined ? -1 : names.indexOf(chosen)
  const move = (by: number) => {
    const next = names[Math.max(0, Math.min(names.length - 1, at + by))]
    if (next !== undefined) onChoose(next)
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ['Enter']: () => {
      if (chosen !== undefined) onOpen(chosen)
    },
  })
}
