/** Flow keys as they are now, and what holds a job: for explaining, listing and verifying. */
import type { Gate } from '../../../core/flow/gate.ts'
import { atKey, type Place } from '../../../core/flow/hall.ts'
import { windowAt } from '../../../core/flow/slots.ts'
import type { Watch } from '../../../core/flow/watch.ts'
import { idNumber, idText } from '../../../core/id.ts'
import type { Job, JobId, Time } from '../../../core/job.ts'
import { original, storable } from '../../codec/text.ts'
import type { EventPage, EventQuery, KeyView, Lobby } from '../../store.ts'
import { literal } from '../batch/uniform.ts'
import type { Statements } from '../connection/statements.ts'
import { keyText } from '../enqueue/new-row.ts'
import type { Run } from '../names/kinds.ts'
import type { Flows, NumberedFlow } from './flows.ts'

export interface ViewParts {
  readonly run: Run
  readonly statements: Pick<Statements, 'flowViews' | 'flowLobby' | 'flowWatch'>
}

/** As `flow_views.sql` has them. */
type ViewRow = readonly [
  id: number,
  key: string,
  name: string | null,
  gate: string,
  text: string,
  log: string | null,
  rev: number,
  spent: number,
  spentIn: number,
  amounts: readonly number[] | null,
  windows: readonly number[] | null,
  taken: number,
  takenSince: number,
  started: number,
  oldestStart: Time | null,
  probes: readonly number[] | null,
  letIn: readonly Time[] | null,
  claimed: readonly (Time | null)[] | null,
  held: number,
  recount: number | null,
]

export async function keyViews(
  parts: ViewParts,
  { tenant, names, limit, cursor = '', recount = false }: Extract<EventQuery, { by: 'keys' }>,
): Promise<Partial<EventPage>> {
  const rows = await rowsOf(parts, [
    storable(tenant),
    names === undefined ? null : JSON.stringify(names.map(keyText)),
    cursor,
    limit,
    recount,
  ])
  const keys = rows.views.filter(([, , , , , , rev]) => rev > 0).map((row) => viewOf(tenant, row, rows.now))
  const last = names === undefined && rows.views.length === limit ? rows.views.at(-1)?.[1] : undefined
  return { keys, cursor: last }
}

/** What lets these jobs in, by id. */
export async function lobbiesOf(
  parts: ViewParts,
  flows: Flows,
  jobs: readonly Job[],
): Promise<ReadonlyMap<JobId, Lobby>> {
  const flowing = jobs.filter(({ spec }) => spec.flow !== undefined)
  if (flowing.length === 0) return new Map()
  await flows.intern(flowing.map((job) => ({ job })))
  const numbered = flowing.map((job) => flows.of(job))
  const [row] = await parts.run(parts.statements.flowLobby, [
    literal(flowing.map(({ id }) => idNumber(id) as number)),
    literal(numbered.map((flow) => flow?.id)),
    literal(numbered.map((flow) => flow?.lane)),
  ])
  const found = JSON.parse(String(row?.[0])) as [job: number, held: boolean, others: number][]
  const views = await viewsOf(parts, flowing)
  const watches = await watchesOf(parts, flowing, numbered, found)
  const lobbies = new Map<JobId, Lobby>()
  for (const [n, { id, spec }] of flowing.entries()) {
    const [, held, others] = found[n] as [number, boolean, number]
    const keys = (spec.flow?.keys ?? []).map((key) => views.get(nameOf(spec.kind.tenant, key)))
    lobbies.set(id, { held, others, keys: keys.filter((view) => view !== undefined), watch: watches.get(id) })
  }
  return lobbies
}

type WatchRow = readonly [
  nextAt: Time | null,
  waitsAt: Place | null,
  arrived: boolean,
  wakeAt: Time | null,
  isPaused: boolean | null,
]

/** Who will look at the flows of those that are held. */
async function watchesOf(
  { run, statements }: ViewParts,
  jobs: readonly Job[],
  flows: readonly (NumberedFlow | undefined)[],
  found: readonly (readonly [job: number, held: boolean, others: number])[],
): Promise<ReadonlyMap<JobId, Watch | undefined>> {
  const held = jobs.flatMap((job, n) => {
    const flow = flows[n]
    return flow !== undefined && found[n]?.[1] === true ? [{ job, flow }] : []
  })
  if (held.length === 0) return new Map()
  const [row] = await run(statements.flowWatch, [literal(held.map(({ flow }) => flow.id))])
  const rows = JSON.parse(String(row?.[0])) as readonly WatchRow[]
  return new Map(held.map(({ job, flow }, n) => [job.id, watchOf(job, flow, rows[n] as WatchRow)]))
}

function watchOf({ spec }: Job, { keys }: NumberedFlow, row: WatchRow): Watch | undefined {
  const [nextAt, waitsAt, arrived, wakeAt, isPaused] = row
  if (arrived) return { by: 'arrival' }
  if (nextAt !== null) return { by: 'time', at: nextAt }
  if (waitsAt?.startsWith('lane ')) return { by: 'lane' }
  if (waitsAt?.startsWith('queue ')) return { by: 'queue', isPaused: isPaused === true }
  const key = spec.flow?.keys[keys.findIndex((id) => waitsAt === atKey(String(id)))]
  return key === undefined ? undefined : { by: 'key', key, wakeAt: wakeAt ?? undefined }
}

/** The keys of these jobs, each once, however many name it. */
async function viewsOf(parts: ViewParts, jobs: readonly Job[]): Promise<ReadonlyMap<string, KeyView>> {
  const views = new Map<string, KeyView>()
  for (const [tenant, group] of Map.groupBy(jobs, ({ spec }) => spec.kind.tenant)) {
    const names = [...new Set(group.flatMap(({ spec }) => spec.flow?.keys ?? []))]
    const { keys = [] } = await keyViews(parts, { by: 'keys', tenant, names, limit: names.length })
    for (const view of keys) views.set(nameOf(tenant, view.key), view)
  }
  return views
}

const nameOf = (tenant: string, key: string): string => JSON.stringify([tenant, key])

async function rowsOf({ run, statements }: ViewParts, values: unknown[]) {
  const [row] = await run(statements.flowViews, values)
  const [now, views] = JSON.parse(String(row?.[0])) as [Time, readonly ViewRow[] | null]
  return { now, views: views ?? [] }
}

function viewOf(tenant: string, row: ViewRow, now: Time): KeyView {
  const [, key, name, gateText, text, log, rev, spentBefore, spentIn, amounts, windows] = row
  const [, , , , , , , , , , , taken, takenSince, started, oldestStart, probes, letIn, claimed, held, recount] = row
  const gate = JSON.parse(gateText) as Gate
  const window = windowAt(gate, now)
  const spent = (amounts ?? []).reduce(
    (sum, amount, n) => (windows?.[n] === window ? sum + amount : sum),
    spentIn === window ? spentBefore : 0,
  )
  return {
    tenant,
    key: original(name ?? key),
    gate,
    text: original(text),
    log: log === null ? undefined : original(log),
    rev,
    count: { taken, takenSince, started, oldestStart: oldestStart ?? undefined, spent },
    probes: (probes ?? []).map((job, n) => ({
      job: idText(job),
      letInAt: letIn?.[n] as Time,
      claimedAt: claimed?.[n] ?? undefined,
    })),
    held,
    ...(recount !== null && { recount }),
  }
}
