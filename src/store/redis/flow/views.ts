/** Flow keys as they are now, and what holds a job: for explaining, listing and verifying. */
import type { Gate } from '../../../core/flow/gate.ts'
import type { Watch } from '../../../core/flow/watch.ts'
import type { Job, JobId, Time } from '../../../core/job.ts'
import { original, storable } from '../../codec/text.ts'
import {
  type EventPage,
  type EventQuery,
  type KeyView,
  type Loaded,
  type LoadItem,
  type Lobby,
  queueKey,
} from '../../store.ts'
import type { Calls } from '../connection/calls.ts'
import { list, pairs, type Reply, triples, word, words } from '../connection/reply.ts'
import { digitsOf } from '../job/id-text.ts'
import { NONE } from '../job/job-text.ts'
import { laneWord } from '../job/lane-word.ts'
import { nothing } from '../read/page.ts'
import { countIn, slotOf, spentWithin } from './hall-seen.ts'
import { flowId, limitId } from './ids.ts'

/** Keys of one call, and jobs. */
const AT_ONCE = 100

type KeysQuery = Extract<EventQuery, { by: 'keys' }>

export async function keysPage(calls: Calls, query: KeysQuery): Promise<EventPage> {
  const { tenant, names, limit, cursor = '', recount = false } = query
  const found = names === undefined ? await namesBehind(calls, tenant, cursor, limit) : names.slice(0, limit)
  const { now, purged, views } = await viewsOf(calls, tenant, found, recount)
  const more = names === undefined && found.length === limit
  return { ...nothing(now, purged), keys: views, cursor: more ? found.at(-1) : undefined }
}

async function namesBehind(calls: Calls, tenant: string, cursor: string, limit: number): Promise<readonly string[]> {
  const [, names] = await calls.call('limit-names', [storable(tenant), storable(cursor), String(limit)])
  return words(names).map(original)
}

async function viewsOf(calls: Calls, tenant: string, names: readonly string[], recount: boolean) {
  const views: KeyView[] = []
  let now = 0
  let purged = 0
  for (let first = 0; first === 0 || first < names.length; first += AT_ONCE) {
    const ids = names.slice(first, first + AT_ONCE).map((name) => limitId(tenant, name))
    const answer = await calls.call('limits', [recount ? '1' : '0', ...ids])
    now = calls.timeIn(answer)
    purged = Number(word(answer[1]))
    for (const row of answer.slice(2)) views.push(viewOf(tenant, list(row), Number(word(answer[0]))))
  }
  return { now, purged, views }
}

function viewOf(tenant: string, row: readonly Reply[], now: Time): KeyView {
  const [name = '', rev, gateText = '', text = '', log = ''] = row.slice(0, 5).map(word)
  const [spent, window] = row.slice(6, 8).map(Number)
  const gate = JSON.parse(gateText) as Gate
  const all = spentWithin(gate, { spent: spent ?? 0, window: window ?? 0 }, pairs(words(row[8])), now)
  const recount = word(row[11])
  return {
    tenant,
    key: original(name),
    gate,
    text: original(text),
    log: log === NONE ? undefined : original(log.slice(1)),
    rev: Number(rev),
    count: countIn(words(row[5]), all),
    probes: triples(words(row[9])).map(([job, letInAt, claimedAt]) => slotOf(job, letInAt, claimedAt)),
    held: Number(word(row[10])),
    ...(recount !== NONE && { recount: Number(recount) }),
  }
}

/** What was loaded, with what holds those that it was asked of. */
export async function withLobbies(
  calls: Calls,
  items: readonly LoadItem[],
  found: readonly (Loaded | undefined)[],
): Promise<readonly (Loaded | undefined)[]> {
  const asked = found.flatMap((each, i) =>
    each?.job.spec.flow !== undefined && items[i]?.flow === true ? [each.job] : [],
  )
  if (asked.length === 0) return found
  const lobbies = await calls.repeated(() => lobbiesOf(calls, asked))
  return found.map((each, i) =>
    each === undefined || items[i]?.flow !== true ? each : { ...each, flow: lobbies.get(each.job.id) },
  )
}

async function lobbiesOf(calls: Calls, jobs: readonly Job[]): Promise<ReadonlyMap<JobId, Lobby>> {
  const lobbies = new Map<JobId, Lobby>()
  for (let first = 0; first < jobs.length; first += AT_ONCE) {
    const some = jobs.slice(first, first + AT_ONCE)
    const [, ...answer] = await calls.call('lobby', some.flatMap(lobbyWords))
    for (const [i, [held, others, watch]] of triples(words(answer)).entries()) {
      const job = some[i] as Job
      const { id, spec } = job
      const { views } = await viewsOf(calls, spec.kind.tenant, spec.flow?.keys ?? [], false)
      lobbies.set(id, { held: held === '1', others: Number(others), keys: views, watch: watchIn(watch, job) })
    }
  }
  return lobbies
}

/** As `lobby.lua` tells it. A key is known by its number, and must be one of the job's. */
function watchIn(text: string, { spec }: Job): Watch | undefined {
  const [by, what = '', at = NONE] = text.split(' ')
  switch (by) {
    case 'arrival':
    case 'lane':
      return { by }
    case 'time':
      return { by, at: Number(what) }
    case 'queue':
      return { by, isPaused: what === '1' }
    case 'key': {
      const key = spec.flow?.keys.find((each) => limitId(spec.kind.tenant, each) === what)
      return key === undefined ? undefined : { by, key, wakeAt: at === NONE ? undefined : Number(at) }
    }
    default:
      return undefined
  }
}

const lobbyWords = (job: Job): readonly string[] => {
  const { tenant, queue } = job.spec.kind
  return [digitsOf(job.id), flowId(job), queueKey(tenant, queue), laneWord(job)]
}
