/** The ledger's log against itself, its account, and what the server still has of it. */
import { entriesAfter, type Head, headOf, isSameHead } from '../../ledger/entry.ts'
import type { Finding } from '../../ledger/finding.ts'
import type { Ledger, WrittenEntry } from '../../ledger/ledger-port.ts'
import type { ServerLog } from './server-log.ts'

export interface ChainParts {
  readonly ledger: Pick<Ledger, 'account' | 'log'>
  readonly log: Pick<ServerLog, 'after'>
}

export async function chainFindings({ ledger, log }: ChainParts): Promise<readonly Finding[]> {
  const found: Finding[] = []
  const { keptFrom, head } = await ledger.account()
  let last: Head | undefined
  for (let after = keptFrom - 1; after < head.seq; ) {
    const entries = await ledger.log(after)
    const [first] = entries
    if (first === undefined) {
      found.push(wrong(`it has nothing after entry ${after}, and its account says that it ends with ${head.seq}`))
      return found
    }
    const before: Head = last ?? { seq: after, name: first.prev }
    found.push(...unlinked(before, entries), ...(await otherwise(log, entries)))
    last = headOf(entries.at(-1) as WrittenEntry)
    after = last.seq
  }
  const { head: now } = await ledger.account()
  if (
    last !== undefined &&
    last.seq >= head.seq &&
    isSameHead({ ...last, seq: now.seq }, now) !== (last.seq === now.seq)
  )
    found.push(wrong(`its last entry ${last.seq} is ${last.name}, and its account says ${now.name}`))
  return found
}

const wrong = (what: string): Finding => ({ about: 'log', what })

function unlinked(before: Head, entries: readonly WrittenEntry[]): readonly Finding[] {
  let last = before
  for (const entry of entries) {
    if (entriesAfter(last, [entry])?.length !== 1)
      return [wrong(`entry ${entry.seq} (${entry.name}) does not follow entry ${last.seq} (${last.name})`)]
    last = entry
  }
  return []
}

/** Of the last minute the server has the same entries. */
async function otherwise(log: ChainParts['log'], entries: readonly WrittenEntry[]): Promise<readonly Finding[]> {
  const [first] = entries
  if (first === undefined) return []
  const known = new Map(entries.map((entry) => [entry.seq, entry]))
  const { entries: hot } = await log.after({ seq: first.seq - 1, name: first.prev })
  return hot.flatMap(({ seq, name, text }) => {
    const entry = known.get(seq)
    if (entry === undefined || (entry.name === name && entry.text === text)) return []
    return [wrong(`entry ${seq} is not what Redis has of it (${name})`)]
  })
}
