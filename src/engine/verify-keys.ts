/** Whether what is taken of flow keys is what stands or is owned under them, and their records are what their changes come to. */
import { decodeKey, decodeKeyLog } from '../core/flow/document.ts'
import { foldOfKept } from '../core/flow/kept.ts'
import { reasonOf } from '../core/reason.ts'
import type { KeyView } from '../store/store.ts'
import { differences } from './difference.ts'
import type { Discrepancy } from './discrepancy.ts'
import type { Engine } from './engine.ts'

const PAGE = 200

/** A key that differs is looked at once more: jobs may have moved while they were counted. */
export async function verifyKeys(engine: Pick<Engine, 'events'>, tenant: string): Promise<readonly Discrepancy[]> {
  const found: Discrepancy[] = []
  let cursor: string | undefined
  do {
    const page = await engine.events({ by: 'keys', tenant, limit: PAGE, cursor, recount: true })
    const names = (page.keys ?? []).filter(differs).map(({ key }) => key)
    if (names.length > 0) {
      const again = await engine.events({ by: 'keys', tenant, names, limit: names.length, recount: true })
      found.push(...(again.keys ?? []).filter(differs).map(discrepancy))
    }
    for (const view of page.keys ?? []) found.push(...misremembered(view))
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}

/** Its document and its log are of one moment: they are one row. */
function misremembered({ key, text, log }: KeyView): readonly Discrepancy[] {
  const { record } = decodeKey(key, text)
  const tell = (what: string): Discrepancy => ({ job: undefined, about: 'record', invariant: undefined, what })
  try {
    const told = foldOfKept(record, decodeKeyLog(log))
    return differences(told, record).map((what) => tell(`key ${key}: its changes and its record differ at ${what}`))
  } catch (error) {
    return [tell(`key ${key}: its changes do not follow each other: ${reasonOf(error)}`)]
  }
}

const differs = ({ count, recount }: KeyView): boolean => recount !== undefined && recount !== count.taken

const discrepancy = ({ key, count, recount }: KeyView): Discrepancy => ({
  job: undefined,
  about: 'slot',
  invariant: undefined,
  what: `key ${key} has ${count.taken} slots taken, and ${recount} jobs that stand or are owned under it`,
})
