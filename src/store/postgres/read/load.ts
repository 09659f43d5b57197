/** Records by id or alias, with bodies and with the events a request has caused. */
import { idNumber } from '../../../core/id.ts'
import type { Time } from '../../../core/job.ts'
import { original, storable } from '../../codec/text.ts'
import { mayHaveInputOf } from '../../meeting.ts'
import type { Loaded, LoadItem } from '../../store.ts'
import { literal } from '../batch/uniform.ts'
import type { Row } from '../connection/client.ts'
import type { Statements } from '../connection/statements.ts'
import type { Meeting, There } from '../enqueue/insert-verdict.ts'
import { keyText } from '../enqueue/new-row.ts'
import type { Kinds, Run } from '../names/kinds.ts'
import { causedBy } from './caused.ts'
import { recordOf, type Whereabouts } from './records.ts'
import { shortLogs } from './short-logs.ts'

export interface LoadParts {
  readonly run: Run
  readonly kinds: Kinds
  readonly statements: Statements
}

export interface Found {
  /** In the order in which they were asked for. */
  readonly items: readonly (Loaded | undefined)[]
  /** When the records were read; absent where there are none. */
  readonly now: Time | undefined
}

export async function load(parts: LoadParts, items: readonly LoadItem[]): Promise<Found> {
  const ids = await numbersOf(parts, items)
  const records = await recordsOf(parts, [...new Set(ids.filter((id) => id !== undefined))])
  const found = await placed(parts.kinds, records)
  const bodies = await bodiesOf(parts, items, ids)
  const rows = items.map(({ tenant }, i) => {
    const row = found.get(ids[i] ?? 0)
    return tenant === undefined || row?.kind.tenant === tenant ? row : undefined
  })
  const caused = await causedBy(parts, items, rows)
  const logs = await shortLogs(parts, items, rows)
  const altered = await alteredOf(parts, items, rows)
  const now = records[0]?.at(-1)
  const answers = items.map((item, i) => {
    const row = rows[i]
    if (row === undefined) return undefined
    const log = logs.get(row.id)
    return {
      job: recordOf(row),
      bodies: wanted(bodies.get(row.id), item.bodies ?? []),
      caused: caused[i] ?? [],
      log: log !== undefined && log.length <= (item.log ?? 0) ? log : undefined,
      altered: item.check === true && altered.has(row.id) ? INPUT : undefined,
    }
  })
  return { items: answers, now: now === undefined ? undefined : Number(now) }
}

const INPUT: readonly string[] = ['input']

/** Jobs whose input is not what was written. */
async function alteredOf(
  { run, statements }: LoadParts,
  items: readonly LoadItem[],
  rows: readonly (Whereabouts | undefined)[],
): Promise<ReadonlySet<number>> {
  const ids: number[] = []
  for (const [i, row] of rows.entries()) if (row !== undefined && items[i]?.check === true) ids.push(row.id)
  if (ids.length === 0) return new Set()
  return new Set((await run(statements.altered, [literal(ids)])).map(([id]) => Number(id)))
}

/** The jobs that new ones have met, as they are now. Inputs only where they may equal the newcomer's. */
export async function loadMet(parts: LoadParts, met: readonly Meeting[]): Promise<ReadonlyMap<number, There>> {
  const rows = await whereabouts(parts, [...new Set(met.map(({ holder }) => holder))])
  const jobs = new Map([...rows].map(([id, row]) => [id, recordOf(row)]))
  const alike = met.filter(({ holder, item }) => {
    const job = jobs.get(holder)
    return item.input !== undefined && job !== undefined && mayHaveInputOf(job, item)
  })
  const inputs = await inputsOf(parts, new Set(alike.map(({ holder }) => holder)))
  return new Map([...jobs].map(([id, job]) => [id, { job, input: inputs.get(id) }]))
}

async function inputsOf(
  { run, statements }: LoadParts,
  ids: ReadonlySet<number>,
): Promise<ReadonlyMap<number, string>> {
  if (ids.size === 0) return new Map()
  const items = JSON.stringify([...ids].map((i) => ({ i, b: ['input'], k: ['input'] })))
  return new Map((await run(statements.bodies, [items])).map(([id, , text]) => [Number(id), original(String(text))]))
}

export async function whereabouts(parts: LoadParts, ids: readonly number[]): Promise<ReadonlyMap<number, Whereabouts>> {
  return placed(parts.kinds, await recordsOf(parts, ids))
}

const recordsOf = async ({ run, statements }: LoadParts, ids: readonly number[]): Promise<readonly Row[]> =>
  ids.length === 0 ? [] : run(statements.records, [literal(ids)])

/** Rows of `records`, by id. */
export async function placed(kinds: Kinds, rows: readonly Row[]): Promise<ReadonlyMap<number, Whereabouts>> {
  await kinds.ensure(rows.map((row) => Number(row[2])))
  return new Map(
    rows.map((row) => {
      const [id, createdAt, kind, lane, head, , doc, claim, beats, log] = row
      const where: Whereabouts = {
        id: Number(id),
        createdAt: Number(createdAt),
        kind: kinds.byId(Number(kind)).kind,
        lane: Number(lane),
        head: textOf(head),
        doc: textOf(doc),
        claim: textOf(claim),
        beats: textOf(beats),
        log: textOf(log),
      }
      return [where.id, where]
    }),
  )
}

const textOf = (value: Row[number] | undefined): string | null => (typeof value === 'string' ? value : null)

async function numbersOf(
  { run, statements }: LoadParts,
  items: readonly LoadItem[],
): Promise<readonly (number | undefined)[]> {
  const numbers = items.map(({ id, key }) => (key === undefined ? idNumber(id) : undefined))
  const aliases = items.flatMap(({ id, key, tenant }, i) =>
    numbers[i] === undefined && tenant !== undefined
      ? [{ i, t: storable(tenant), p: key ?? 'alias', k: keyText(id) }]
      : [],
  )
  if (aliases.length === 0) return numbers
  const [row] = await run(statements.aliases, [JSON.stringify(aliases)])
  const found = JSON.parse(String(row?.[0])) as (number | null)[]
  for (const [n, { i }] of aliases.entries()) numbers[i] = found[n] ?? undefined
  return numbers
}

async function bodiesOf(
  { run, statements }: LoadParts,
  items: readonly LoadItem[],
  ids: readonly (number | undefined)[],
): Promise<ReadonlyMap<number, ReadonlyMap<string, string>>> {
  const names = new Map<number, Set<string>>()
  for (const [i, { bodies }] of items.entries()) {
    const id = ids[i]
    if (id === undefined || bodies === undefined || bodies.length === 0) continue
    const all = names.get(id) ?? new Set()
    for (const name of bodies) all.add(name)
    names.set(id, all)
  }
  const found = new Map<number, Map<string, string>>()
  if (names.size === 0) return found
  const asked = JSON.stringify([...names].map(([i, b]) => ({ i, b: [...b].map(storable), k: [...b].map(keyText) })))
  for (const [id, name, text] of await run(statements.bodies, [asked])) {
    const texts = found.get(Number(id)) ?? new Map<string, string>()
    texts.set(original(String(name)), original(String(text)))
    found.set(Number(id), texts)
  }
  return found
}

function wanted(
  found: ReadonlyMap<string, string> | undefined,
  names: readonly string[],
): Readonly<Record<string, string>> {
  if (found === undefined) return {}
  const entries = [...found].filter(([each]) =>
    names.some((name) => each === name || (name.endsWith('/') && each.startsWith(name))),
  )
  return Object.fromEntries(entries)
}
